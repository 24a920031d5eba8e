import { statOf } from '../../disk/index.js'
import { readBeat } from '../../journal/index.js'
import { type AgentStatus, DAY_MS, type Instant, instantOf, msOf } from '../../model/index.js'
import { type AgentRun, liveRun } from '../agent-run.js'
import type { Parts } from '../parts.js'
import { askedOf } from '../run/asked-end.js'
import { activityOf } from '../status/evidence.js'

/** What is known of an agent's life while it runs. */
export interface Heartbeat {
  state: 'idle' | 'working' | 'exiting' | 'stuck'
  /** Its last sign of life: the hook (`hook:Stop`), the command of Skein that it typed (`skein mail inbox`), or `log`. */
  last_command?: string
  timestamp?: Instant
  /** A year for one that was never heard of: no rule has to ask whether there is a heartbeat at all. */
  age_ms: number
  /** The unit of work on its hook. */
  work?: string
}

/** A sign of life, and what it was. */
export interface Sign {
  at: Instant
  by: string
}

const NEVER_MS = 365 * DAY_MS

/** The newest sign of life of the run that goes on: what its program reported, what it typed, and that its log has grown. */
export function signOf({ home }: Pick<Parts, 'home'>, run: AgentRun): Sign | undefined {
  const live = liveRun(run)
  if (!live) return undefined
  const beat = readBeat(home.paths.beats, live.id)
  const grown = run.binding?.log ? statOf(run.binding.log)?.mtimeMs : undefined
  const signs = [
    run.heard,
    beat && { at: beat.at, by: `skein ${beat.command}` },
    grown === undefined ? undefined : { at: instantOf(grown), by: 'log' },
  ]
  const ours = signs.filter((sign): sign is Sign => sign !== undefined && sign.at >= live.started_at)
  return ours.sort((a, b) => (a.at < b.at ? 1 : -1))[0]
}

/** Undefined for an agent that does not run. A clock that was set back makes no age below nought. */
export function heartbeatOf(
  parts: Pick<Parts, 'home' | 'context'>,
  run: AgentRun | undefined,
  status: AgentStatus,
  work: string | undefined,
): Heartbeat | undefined {
  if (!run || !liveRun(run)) return undefined
  const sign = signOf(parts, run)
  return {
    state: stateOf(parts, run, status),
    ...(sign ? { last_command: sign.by, timestamp: sign.at } : {}),
    age_ms: sign ? Math.max(0, parts.context.clock.now() - msOf(sign.at)) : NEVER_MS,
    ...(work === undefined ? {} : { work }),
  }
}

function stateOf({ context }: Pick<Parts, 'context'>, { run }: AgentRun, status: AgentStatus): Heartbeat['state'] {
  if (run && askedOf(run, context.clock.now())) return 'exiting'
  if (status.trouble === 'stuck') return 'stuck'
  const activity = activityOf(status)
  return activity === 'running' || activity === 'starting' || activity === 'blocked' ? 'working' : 'idle'
}
