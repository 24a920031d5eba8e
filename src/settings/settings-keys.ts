import { RESPAWNS } from '../model/index.js'
import { ACCOUNT_KEYS, PRICE_KEYS, ROLE_KEYS, ROLES_KEYS, START_KEYS, THEME_KEYS } from './named-keys.js'
import type { Settings } from './settings-file.js'

/** What a setting may be, in words, and how to check it. */
interface Kind {
  readonly words: string
  readonly fits: (value: unknown) => boolean
}

const isText = (value: unknown): boolean => typeof value === 'string'
const isList = (value: unknown): boolean => Array.isArray(value)
const isTable = (value: unknown): value is Settings =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)

const TEXT: Kind = { words: 'a text', fits: isText }
const FLAG: Kind = { words: 'true or false', fits: (value) => typeof value === 'boolean' }
const FLAG_OR_TEXT: Kind = {
  words: 'true, false or a text',
  fits: (value) => typeof value === 'boolean' || isText(value),
}
const COUNT: Kind = { words: 'a whole number', fits: (value) => Number.isInteger(value) && Number(value) >= 0 }
const DURATION: Kind = { words: 'a duration such as "7d"', fits: (value) => isText(value) || value === 0 }
const SIZE: Kind = { words: 'a size such as "2GB"', fits: isText }
const RESPAWN: Kind = {
  words: `one of ${RESPAWNS.join(', ')}`,
  fits: (value) => RESPAWNS.some((one) => one === value),
}
const LIST: Kind = { words: 'a list', fits: isList }
const TEXT_OR_LIST: Kind = { words: 'a text or a list', fits: (value) => isText(value) || isList(value) }
/** A table whose keys are names that the user chose; what is in it is checked where it is used. */
const NAMED: Kind = { words: 'a table', fits: isTable }

/** Checked where it is used; here only its name is. */
const ANY: Kind = { words: 'a value', fits: () => true }

/** A table with these keys and no others. */
interface Keys {
  readonly [key: string]: Shape
}

/** A table whose keys are names that the user chose, and what is below each of them; `own` are keys of the table itself. */
class Each {
  constructor(
    readonly shape: Shape,
    readonly own: Keys = {},
  ) {}
}

type Shape = Kind | Keys | Each

const anyOf = (keys: readonly string[]): Keys => Object.fromEntries(keys.map((key) => [key, ANY]))

/** Every setting of config.toml. */
const KNOWN: Keys = {
  default_tool: TEXT,
  accounts: new Each(anyOf(ACCOUNT_KEYS)),
  archive: { max_age: DURATION, max_size: SIZE },
  conversations: { reset: NAMED, send_policy: NAMED },
  daemon: { autostart: FLAG, ingest: FLAG },
  events: { default_ttl: DURATION, min_retain: COUNT, prune_interval: DURATION, ttl: new Each(DURATION) },
  fork: { setup: LIST },
  hibernate: { after: DURATION, agents: new Each(DURATION) },
  logs: new Each(LIST),
  notify: { by: LIST, command: LIST, on: LIST, per_minute: COUNT, quiet_hours: TEXT_OR_LIST, rules: LIST },
  prices: new Each(anyOf(PRICE_KEYS)),
  recover: { spacing: DURATION },
  roles: new Each({ ...anyOf(ROLE_KEYS), start: anyOf(START_KEYS) }, anyOf(ROLES_KEYS)),
  sessions: { archive_after_days: COUNT },
  themes: new Each(anyOf(THEME_KEYS)),
  tmux: { socket: TEXT },
  tools: NAMED,
  turns: { snapshots: FLAG, commit: FLAG, push: FLAG_OR_TEXT, max_file_size: SIZE, max_time: DURATION, max_disk: SIZE },
  groups: new Each({ max_running: COUNT, repository: TEXT, snapshots: FLAG }),
  watchdog: {
    respawn: RESPAWN,
    backoff: DURATION,
    max_backoff: DURATION,
    limit: COUNT,
    mass: COUNT,
    mass_window: DURATION,
    stuck_after: DURATION,
    agents: new Each(RESPAWN),
  },
  work: {
    on_done: LIST,
    on_done_timeout: DURATION,
    provider: TEXT,
    beads_dir: TEXT,
    beads_program: TEXT,
    min_free_memory: SIZE,
  },
}

/** What is wrong with the names and kinds of settings, one line each. A wrong kind is also an error where the setting is used. */
export function settingsFlaws(settings: Settings, text: string, file: string): string[] {
  return flawsOf(settings, KNOWN, []).map(({ path, what }) => `${file}:${lineOf(text, path)}: ${what}`)
}

interface Flaw {
  path: string[]
  what: string
}

function flawsOf(table: Settings, known: Keys | Each, above: string[]): Flaw[] {
  return Object.entries(table).flatMap(([key, value]): Flaw[] => {
    const path = [...above, key]
    const name = path.join('.')
    const shape = shapeOf(known, key)
    if (!shape) return [{ path, what: `${name} is not a setting; known: ${Object.keys(known).join(', ')}` }]
    if (isKind(shape)) return shape.fits(value) ? [] : [{ path, what: `${name} is not ${shape.words}` }]
    return isTable(value) ? flawsOf(value, shape, path) : [{ path, what: `${name} is not a table` }]
  })
}

function shapeOf(known: Keys | Each, key: string): Shape | undefined {
  const keys = known instanceof Each ? known.own : known
  if (Object.hasOwn(keys, key)) return keys[key]
  return known instanceof Each ? known.shape : undefined
}

const isKind = (shape: Shape): shape is Kind => !(shape instanceof Each) && typeof shape.fits === 'function'

/** The first line that names a key, in its table or with dots; 1 where it is written in a way that only a parser reads. */
function lineOf(text: string, path: readonly string[]): number {
  let table = ''
  for (const [at, line] of text.split('\n').entries()) {
    const header = /^\s*\[+\s*([^\]]*?)\s*\]+/.exec(line)?.[1]
    const key = header === undefined ? /^\s*([^=#]+?)\s*=/.exec(line)?.[1] : undefined
    if (header !== undefined) table = plain(header)
    const named =
      key === undefined ? (header === undefined ? '' : table) : [table, plain(key)].filter(Boolean).join('.')
    if (named === path.join('.') || named.startsWith(`${path.join('.')}.`)) return at + 1
  }
  return 1
}

const plain = (name: string): string => name.replace(/["'\s]/g, '')
