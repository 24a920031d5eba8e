import { isAbsolute } from 'node:path'
import { type JsonPath, parseJsonPath } from '../json-path.js'
import type { ConfigValue } from '../run/config-value.js'

/** Where a tool of the user's own keeps its logs, and where in them is what. */
export interface LogDescription {
  /** The keys as they are written, for `skein tool show`. */
  readonly written: Readonly<Record<string, string>>
  /** The directory above the first wildcard: absolute, or below the user's home (`~/`). */
  readonly root: string
  /** Which files below it are logs. */
  readonly isLog: RegExp
  /** How far below. */
  readonly depth: number
  readonly format: 'jsonl' | 'json'
  /** The list of messages in a document. */
  readonly messages?: JsonPath
  readonly role: JsonPath
  readonly text: JsonPath
  readonly time?: JsonPath
  readonly session?: JsonPath
  readonly cwd?: JsonPath
  readonly model?: JsonPath
  readonly input_tokens?: JsonPath
  readonly output_tokens?: JsonPath
}

export const LOG_KEYS = [
  'log_glob',
  'log_format',
  'log_messages',
  'log_role',
  'log_text',
  'log_time',
  'log_session',
  'log_cwd',
  'log_model',
  'log_input_tokens',
  'log_output_tokens',
] as const

/** `**` goes no deeper than this. */
const DEEPEST = 8

/** The `log_…` keys of a tool, checked; undefined when there are none. */
export function parseLogDescription(tool: ConfigValue): LogDescription | undefined {
  const given = LOG_KEYS.find((key) => tool.optional(key))
  if (given === undefined) return undefined
  if (!tool.optional('log_glob')) throw tool.get(given).wrong('needs log_glob beside it', 'Name its log files')
  const format = tool.optional('log_format')?.text() ?? 'jsonl'
  if (format !== 'jsonl' && format !== 'json')
    throw tool.get('log_format').wrong(`is "${format}"`, 'Use "jsonl" (one record per line) or "json" (one document)')
  const path = (key: (typeof LOG_KEYS)[number]): JsonPath | undefined => {
    const value = tool.optional(key)
    const parsed = value && parseJsonPath(value.text())
    if (value && !parsed) throw value.wrong('is not a JSON path', 'Write it like .role or .message.content[0].text')
    return parsed
  }
  const messages = path('log_messages')
  if (format === 'json' && !messages)
    throw tool.get('log_glob').wrong('needs log_messages beside it', 'Name the list of messages, like .messages')
  if (format === 'jsonl' && messages)
    throw tool.get('log_messages').wrong('needs log_format = "json"', 'In "jsonl" each line is a message')
  const places = {
    messages,
    time: path('log_time'),
    session: path('log_session'),
    cwd: path('log_cwd'),
    model: path('log_model'),
    input_tokens: path('log_input_tokens'),
    output_tokens: path('log_output_tokens'),
  }
  const present = Object.fromEntries(Object.entries(places).filter(([, place]) => place !== undefined))
  const written = Object.fromEntries(LOG_KEYS.flatMap((key) => writtenAt(tool, key)))
  const [role, text] = [path('log_role') ?? ['role'], path('log_text') ?? ['content']]
  return { written, ...globOf(tool.get('log_glob')), format, role, text, ...present }
}

function writtenAt(tool: ConfigValue, key: string): [string, string][] {
  const value = tool.optional(key)
  return value ? [[key, value.text()]] : []
}

/** `*` and `?` match within a name, `**` any number of directories. */
function globOf(value: ConfigValue): Pick<LogDescription, 'root' | 'isLog' | 'depth'> {
  const glob = value.text()
  const example = 'Write it like ~/.vibe/sessions/*.jsonl'
  if (!glob.startsWith('~/') && !isAbsolute(glob)) throw value.wrong('is not an absolute path', example)
  if (/\p{Cc}/u.test(glob)) throw value.wrong('contains a control character', example)
  const parts = glob.split('/')
  if (parts.slice(1).some((part) => part === '' || part === '.' || part === '..'))
    throw value.wrong('has an empty part, "." or ".." in it', example)
  const wild = parts.findIndex((part) => /[*?]/.test(part))
  const fixed = wild < 0 ? parts.length - 1 : wild
  const names = parts.slice(fixed)
  if (fixed < 2) throw value.wrong('has no directory before its first wildcard', example)
  if (names.at(-1) === '**') throw value.wrong('ends with "**"', 'End it with the name of the files, like *.jsonl')
  if (names.filter((name) => name === '**').length > 1) throw value.wrong('has "**" twice', 'Use it once')
  const source = names.map((name, at) => (name === '**' ? '(?:[^/]+/)*' : segment(name, at === names.length - 1)))
  return {
    root: parts.slice(0, fixed).join('/'),
    isLog: new RegExp(`^${source.join('')}$`, 'u'),
    depth: names.includes('**') ? DEEPEST : names.length - 1,
  }
}

function segment(name: string, isLast: boolean): string {
  const escaped = name.replace(/[\\^$.+()[\]{}|/]/g, '\\$&')
  return escaped.replaceAll('*', '[^/]*').replaceAll('?', '[^/]') + (isLast ? '' : '/')
}
