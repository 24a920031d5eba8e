import { type Settings, settingsTable } from '../../home/index.js'
import { type Agent, isWithin, parseGroupPath, RESPAWNS, type Role, type Roles, SkeinError } from '../../model/index.js'
import { durationIn } from '../recover/recover-settings.js'
import type { RespawnRule } from './respawn.js'
import type { SilenceRule } from './silence.js'

/** Longer than a model takes to answer; a tool call that works is no silence. */
const STUCK_AFTER = '5m'

/** `[watchdog]` in the config file, and the rules of roles. */
export interface WatchdogSettings {
  ruleOf(agent: Pick<Agent, 'address' | 'role'>): RespawnRule
  /** When an agent with work on its hook counts as silent. */
  silenceOf(agent: Pick<Agent, 'address' | 'role'>): SilenceRule
  /** So many deaths within so long are a mass death. */
  readonly mass: { readonly deaths: number; readonly withinMs: number }
}

export function parseWatchdogSettings(settings: Settings, file: string, roles: Roles): WatchdogSettings {
  const table = settingsTable(settings, 'watchdog', file)
  const called = (name: string): string => `watchdog.${name} in ${file}`
  const base = ruleIn(table.respawn ?? 'never', called('respawn'))
  const named = Object.entries(settingsTable(table, 'agents', file)).map(
    ([path, rule]) => [parseGroupPath(path), ruleIn(rule, called(`agents.${path}`))] as const,
  )
  const times = {
    backoffMs: durationIn(table, 'backoff', '30s', called('backoff')),
    mostMs: durationIn(table, 'max_backoff', '10m', called('max_backoff')),
    limit: countIn(table, 'limit', 5, called('limit')),
  }
  const stuckMs = durationIn(table, 'stuck_after', STUCK_AFTER, called('stuck_after'))
  const roleOf = ({ role, address }: Pick<Agent, 'address' | 'role'>): Role | undefined =>
    roles.find(role ?? roles.parse(address)?.role ?? '')
  const respawnOf = (agent: Pick<Agent, 'address' | 'role'>): Role['respawn'] => {
    // The longest path that fits says most about the agent; its role comes before what holds for all.
    const own = named.filter(([path]) => isWithin(`${agent.address}`, path))
    const nearest = own.sort(([a], [b]) => b.length - a.length)[0]?.[1]
    return nearest ?? roleOf(agent)?.respawn ?? base
  }
  return {
    ruleOf: (agent) => ({ respawn: respawnOf(agent), ...times }),
    silenceOf(agent) {
      const given = roleOf(agent)?.stuck_after
      const ms = given === undefined ? stuckMs : durationIn({ given }, 'given', STUCK_AFTER, called('stuck_after'))
      return { afterMs: ms === 0 ? undefined : ms, respawn: respawnOf(agent) }
    },
    mass: {
      deaths: countIn(table, 'mass', 3, called('mass')),
      withinMs: durationIn(table, 'mass_window', '30s', called('mass_window')),
    },
  }
}

function ruleIn(value: unknown, called: string): Role['respawn'] {
  const known = RESPAWNS.find((one) => one === value)
  if (known) return known
  throw new SkeinError('bad-config', `${called} is ${JSON.stringify(value)}`, `Write one of ${RESPAWNS.join(', ')}`)
}

function countIn(table: Settings, name: string, fallback: number, called: string): number {
  const value = table[name] ?? fallback
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1) return value
  throw new SkeinError('bad-config', `${called} is ${JSON.stringify(value)}`, 'Write a whole number above 0')
}
