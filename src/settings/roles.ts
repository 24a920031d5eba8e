import { isAbsolute, join } from 'node:path'
import {
  DEFAULT_START,
  GASTOWN,
  HANDOFFS,
  type Placeholder,
  PRECOMPACTS,
  PRESETS,
  parseDuration,
  plainRole,
  RESPAWNS,
  type Role,
  type RoleStart,
  Roles,
  type RoleTheme,
  templateFault,
} from '../model/index.js'
import { isColour } from '../terminal/index.js'
import { ConfigValue } from '../tools/index.js'
import { ROLE_KEYS, ROLES_KEYS, START_KEYS, THEME_KEYS } from './named-keys.js'
import type { Settings } from './settings-file.js'

const START_FLAGS = Object.keys(DEFAULT_START).filter((key) => key !== 'ready_delay_ms') as Exclude<
  keyof RoleStart,
  'ready_delay_ms'
>[]
const ROLE_NAME = /^[a-z][a-z0-9_-]{0,63}$/
const PREFIX = /^[a-zA-Z][a-zA-Z0-9_]*(?:-[a-zA-Z0-9_]+)*$/
const MOST_DELAY_MS = 120_000
/** Themes that need not be described. */
const THEMES: Readonly<Record<string, RoleTheme>> = {
  ocean: { bg: '#1c3a52', fg: '#e4e4e4' },
  forest: { bg: '#1f4030', fg: '#e4e4e4' },
  plum: { bg: '#432a52', fg: '#e4e4e4' },
  slate: { bg: '#39424e', fg: '#e4e4e4' },
  ember: { bg: '#5a2a1a', fg: '#f2e2d0' },
}

/** `[roles]`: a preset, the root and the prefixes that its names need, and one table per role. */
export function rolesOf(settings: Settings, file: string, userHome: () => string): Roles {
  const themes = themesOf(new ConfigValue(file, 'themes', settings.themes ?? {}))
  const value = settings.roles
  if (value === undefined) return new Roles({ roles: [], themes })
  const roles = new ConfigValue(file, 'roles', value)
  const preset = roles.optional('preset')?.oneOf(PRESETS)
  const root = roles.optional('root')
  const prefixes = prefixesOf(roles.optional('prefixes'))
  const base = new Map((preset === 'gastown' ? GASTOWN : []).map((role) => [role.name, role]))
  for (const name of Object.keys(roles.table())) {
    if (ROLES_KEYS.includes(name)) continue
    const one = roles.get(name)
    if (!ROLE_NAME.test(name)) throw one.wrong('is not a name for a role', 'Use a to z, digits, "_" and "-"')
    base.set(name, roleOf(one, base.get(name) ?? plainRole(name)))
  }
  for (const { name, theme } of base.values()) {
    if (theme === undefined || Object.hasOwn(themes, theme)) continue
    throw roles
      .get(name)
      .get('theme')
      .wrong(
        `is ${JSON.stringify(theme)}`,
        `Use one of: ${Object.keys(themes).join(', ')}, or describe it as [themes.${theme}]`,
      )
  }
  const facts = { roles: [...base.values()], prefixes, themes }
  return new Roles({
    ...facts,
    ...(preset ? { preset } : {}),
    ...(root ? { root: directoryOf(root, userHome) } : {}),
  })
}

function roleOf(value: ConfigValue, base: Role): Role {
  value.object(ROLE_KEYS)
  const text = (key: (typeof ROLE_KEYS)[number]): string | undefined => value.optional(key)?.text()
  const template = (key: 'session_name' | 'address' | 'mail_address' | 'cwd', allowed: readonly Placeholder[]) => {
    const given = value.optional(key)
    const fault = given && templateFault(given.text(), allowed)
    if (given && fault) throw given.wrong(`is ${JSON.stringify(given.text())}: ${fault}`, 'Correct the template')
    return given?.text()
  }
  const names: readonly Placeholder[] = ['role', 'group', 'prefix', 'name']
  const cwd = template('cwd', [...names, 'root'])
  if (cwd !== undefined && !/^(\/|\{root\})/.test(cwd))
    throw value.get('cwd').wrong('is not an absolute path', 'Begin it with / or {root}')
  const order = value.optional('shutdown_order')
  if (order && !Number.isSafeInteger(order.value)) throw order.wrong('is not a whole number', 'Write one')
  const start = startOf(value.optional('start'), base.start)
  return {
    ...base,
    ...without({
      session_name: template('session_name', [...names, 'address']),
      address: template('address', names),
      mail_address: template('mail_address', [...names, 'address']),
      cwd,
      respawn: value.optional('respawn')?.oneOf(RESPAWNS),
      stuck_after: durationOf(value.optional('stuck_after')),
      hibernate_after: durationOf(value.optional('hibernate_after')),
      shutdown_order: order?.value as number | undefined,
      handoff: value.optional('handoff')?.oneOf(HANDOFFS),
      precompact: value.optional('precompact')?.oneOf(PRECOMPACTS),
      context: text('context'),
      instructions: text('instructions'),
      tool: text('tool'),
      model: text('model'),
      args: value
        .optional('args')
        ?.list()
        .map((one) => one.text()),
      dangerous: value.optional('dangerous')?.truth(),
      theme: text('theme'),
      beacon: value.optional('beacon')?.truth(),
    }),
    start,
    ...(start.auto_respawn ? {} : { respawn: 'never' as const }),
  }
}

/** As it was written; `0` is never. */
function durationOf(value: ConfigValue | undefined): string | undefined {
  if (!value) return undefined
  const text = value.value === 0 ? '0' : value.text()
  if (text === '0' || parseDuration(text) !== undefined) return text
  throw value.wrong(`is ${JSON.stringify(text)}`, 'Write a duration such as "5m", or 0 for never')
}

function startOf(value: ConfigValue | undefined, base: RoleStart): RoleStart {
  if (!value) return base
  value.object(START_KEYS)
  const delay = value.optional('ready_delay_ms')
  const ms = delay?.value
  if (delay && !(Number.isSafeInteger(ms) && Number(ms) >= 0 && Number(ms) <= MOST_DELAY_MS))
    throw delay.wrong(`is not a whole number from 0 to ${MOST_DELAY_MS}`, 'Write milliseconds')
  const flags = START_FLAGS.map((key) => [key, value.optional(key)?.truth() ?? base[key]] as const)
  return { ...base, ...Object.fromEntries(flags), ready_delay_ms: delay ? Number(ms) : base.ready_delay_ms }
}

function prefixesOf(value: ConfigValue | undefined): Record<string, string> {
  const found: Record<string, string> = {}
  const seen = new Map<string, string>()
  for (const group of Object.keys(value?.table() ?? {})) {
    const one = value?.get(group)
    const prefix = one?.text() ?? ''
    if (!PREFIX.test(prefix)) throw one?.wrong(`is ${JSON.stringify(prefix)}`, 'Use letters, digits, "_" and "-"')
    const other = seen.get(prefix.toLowerCase())
    if (other !== undefined) throw one?.wrong(`is also the prefix of ${other}`, 'Give each group a prefix of its own')
    seen.set(prefix.toLowerCase(), group)
    found[group] = prefix
  }
  return found
}

function themesOf(value: ConfigValue): Record<string, RoleTheme> {
  const found = { ...THEMES }
  for (const name of Object.keys(value.table())) {
    const one = value.get(name).object(THEME_KEYS)
    const base = Object.hasOwn(THEMES, name) ? THEMES[name] : undefined
    const colour = (key: 'bg' | 'fg'): string => {
      const given = base ? one.optional(key) : one.get(key)
      if (given && !isColour(given.text()))
        throw given.wrong('is not a colour', 'Write it like "#1c3a52", "colour24" or "blue"')
      return given?.text() ?? base?.[key] ?? 'default'
    }
    const label = one.optional('label')?.text()
    const groups = one
      .optional('groups')
      ?.list()
      .map((group) => group.text())
    found[name] = { bg: colour('bg'), fg: colour('fg'), ...(label ? { label } : {}), ...(groups ? { groups } : {}) }
  }
  return found
}

function directoryOf(value: ConfigValue, userHome: () => string): string {
  const path = value.text()
  if (path === '~' || path.startsWith('~/')) return join(userHome(), path.slice(1))
  if (isAbsolute(path)) return path
  throw value.wrong('is not an absolute path', 'Begin it with / or ~/')
}

type Present<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> }
const without = <T extends object>(values: T): Present<T> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Present<T>
