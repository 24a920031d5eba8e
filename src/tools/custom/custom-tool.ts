import { dirname, isAbsolute, join } from 'node:path'
import { nearest, SkeinError } from '../../model/index.js'
import { parseJsonPath } from '../json-path.js'
import { LOG_TOOL_NAMES } from '../log/log-tool-names.js'
import { ConfigValue } from '../run/config-value.js'
import { safeRegex } from '../screen/safe-regex.js'
import { LOG_KEYS, type LogDescription, parseLogDescription } from './log-description.js'
import { splitWords } from './split-words.js'

/** A tool as `[tools.<name>]` describes it, checked. */
export interface CustomTool {
  readonly name: string
  /** The file that says so. */
  readonly source: string
  readonly command: readonly [string, ...string[]]
  readonly icon?: string
  /** The built-in tool whose runner is used, with this command. */
  readonly compatible_with?: string
  readonly busy_patterns: readonly TextPattern[]
  readonly prompt_patterns: readonly TextPattern[]
  readonly idle_patterns: readonly TextPattern[]
  readonly detect_patterns: readonly TextPattern[]
  /** What is pressed to say yes or no at one of its prompts. */
  readonly approve_keys?: readonly string[]
  readonly deny_keys?: readonly string[]
  readonly resume_flag?: readonly string[]
  readonly session_id_env?: string
  readonly session_id_json_path?: string
  readonly output_format_flag?: readonly string[]
  readonly dangerous_flag?: readonly string[]
  readonly dangerous_mode: boolean
  readonly env: Readonly<Record<string, string>>
  /** Absolute, or below the user's home (`~/`). */
  readonly env_file?: string
  /** Its logs, as the `log_…` keys describe them. */
  readonly log?: LogDescription
}

/** A pattern as it was written, and what it finds. `re:` starts a regular expression; all else is text. Case does not matter. */
export interface TextPattern {
  readonly written: string
  readonly finds: RegExp
}

const KEYS = [
  'command',
  'icon',
  'compatible_with',
  'busy_patterns',
  'prompt_patterns',
  'idle_patterns',
  'detect_patterns',
  'approve_keys',
  'deny_keys',
  'resume_flag',
  'session_id_env',
  'session_id_json_path',
  'output_format_flag',
  'dangerous_flag',
  'dangerous_mode',
  'env',
  'env_file',
  ...LOG_KEYS,
]

/** Reads the `[tools]` table of a configuration file. `builtIn`: the names of the tools that Skein knows itself. */
export function parseCustomTools(
  tools: Readonly<Record<string, unknown>>,
  file: string,
  builtIn: readonly string[],
): CustomTool[] {
  return Object.entries(tools).map(([name, value]) => {
    if (!/^[a-z][a-z0-9_-]{0,31}$/.test(name))
      throw new SkeinError(
        'bad-config',
        `tools.${name} in ${file} is not a valid tool name`,
        'Use up to 32 lower-case letters, digits, "-" and "_", starting with a letter',
      )
    return parseTool(name, new ConfigValue(file, `tools.${name}`, value), builtIn)
  })
}

function parseTool(name: string, value: ConfigValue, builtIn: readonly string[]): CustomTool {
  const tool = value.object(KEYS)
  const base = baseOf(name, tool, builtIn)
  // A table for a built-in tool changes that tool; it need not repeat the command.
  const command = tool.optional('command') ?? (base === name ? undefined : tool.get('command'))
  const flags = {
    resume_flag: words(tool.optional('resume_flag')),
    output_format_flag: words(tool.optional('output_format_flag')),
    dangerous_flag: words(tool.optional('dangerous_flag')),
    session_id_env: variableName(tool.optional('session_id_env')),
    session_id_json_path: jsonPath(tool.optional('session_id_json_path')),
    icon: icon(tool.optional('icon')),
    env_file: filePath(tool.optional('env_file')),
    approve_keys: keys(tool.optional('approve_keys')),
    deny_keys: keys(tool.optional('deny_keys')),
    log: ownLog(name, tool, base),
  }
  const known: CustomTool = {
    name,
    source: tool.file,
    command: commandWords(command) ?? [name],
    ...(base ? { compatible_with: base } : {}),
    ...present(flags),
    busy_patterns: patterns(tool.optional('busy_patterns')),
    prompt_patterns: patterns(tool.optional('prompt_patterns')),
    idle_patterns: patterns(tool.optional('idle_patterns')),
    detect_patterns: patterns(tool.optional('detect_patterns')),
    dangerous_mode: tool.optional('dangerous_mode')?.truth() ?? false,
    env: variables(tool.optional('env')),
  }
  checkTogether(known, tool)
  return known
}

/** A tool that is like a built-in one writes the logs of that one, which are read anyway. */
function ownLog(name: string, tool: ConfigValue, base: string | undefined): LogDescription | undefined {
  const log = parseLogDescription(tool)
  if (log && LOG_TOOL_NAMES.includes(name))
    throw tool.get('log_glob').wrong(`is for ${name}, whose logs are read already`, 'Give the tool another name')
  if (log && base)
    throw tool.get('log_glob').wrong(`is for a tool like ${base}, whose logs are read already`, 'Remove it')
  return log
}

function baseOf(name: string, tool: ConfigValue, builtIn: readonly string[]): string | undefined {
  const given = tool.optional('compatible_with')
  if (!given) return builtIn.includes(name) ? name : undefined
  const base = given.text()
  if (builtIn.includes(base)) return base
  const meant = nearest(base, builtIn)
  throw given.wrong(
    `is "${base}", which is not a built-in tool`,
    `${meant ? `Did you mean ${meant}? ` : ''}Use one of: ${builtIn.join(', ')}`,
  )
}

/** Keys that mean nothing without another. */
function checkTogether(known: CustomTool, tool: ConfigValue): void {
  const needs: [keyof CustomTool, keyof CustomTool][] = [
    ['output_format_flag', 'session_id_json_path'],
    ['output_format_flag', 'resume_flag'],
    ['session_id_json_path', 'output_format_flag'],
  ]
  for (const [key, other] of needs)
    if (known[key] !== undefined && known[other] === undefined && !known.compatible_with)
      throw tool.get(key).wrong(`needs ${other} beside it`, `Add ${other}, or leave ${key} out`)
  for (const key of ['approve_keys', 'deny_keys'] as const)
    if (known[key] && known.prompt_patterns.length === 0)
      throw tool.get(key).wrong('needs prompt_patterns beside it', 'Describe its screen when it waits for an answer')
  if (known.dangerous_mode && !known.dangerous_flag && !known.compatible_with)
    throw tool
      .get('dangerous_mode')
      .wrong('needs dangerous_flag beside it', 'Name the flag that makes the tool stop asking')
}

function commandWords(value: ConfigValue | undefined): readonly [string, ...string[]] | undefined {
  const [first, ...rest] = words(value) ?? []
  if (first !== undefined && first !== '') return [first, ...rest]
  if (value) throw value.wrong('is empty', 'Name the program')
  return undefined
}

/** A text is split into words as a shell would, without one; a list is taken as it is. */
function words(value: ConfigValue | undefined): string[] | undefined {
  if (!value) return undefined
  if (Array.isArray(value.value)) return value.list().map((word) => printable(word))
  const split = splitWords(printable(value))
  if (split && split.length > 0) return split
  throw value.wrong('has an unclosed quote', 'Close it, or write the words as a list')
}

function printable(value: ConfigValue): string {
  const text = value.text()
  if (!/\p{Cc}/u.test(text)) return text
  throw value.wrong('contains a control character', 'Leave it out')
}

function patterns(value: ConfigValue | undefined): TextPattern[] {
  return (value?.list() ?? []).map((one) => {
    const written = one.text()
    const source = written.startsWith('re:') ? written.slice(3) : written.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
    try {
      return { written, finds: safeRegex(withOpenEnd(source), 'iu') }
    } catch (error) {
      const why = error instanceof Error ? error.message.replace(/^Invalid regular expression: /, '') : String(error)
      throw one.wrong(`cannot be used as a pattern: ${why}`, 'Correct it, or remove re: to match the text literally')
    }
  })
}

/** A terminal does not say whether a line ends with spaces: a prompt `> ` that nothing follows is read as `>`. */
const withOpenEnd = (source: string): string => source.replace(/((?:(?: |\\s)[+*?]?)+)(\$?)$/, '(?:$1|$)$2')

/** Each is one character or a name that tmux has for a key: `Enter`, `Escape`, `C-c`. */
function keys(value: ConfigValue | undefined): string[] | undefined {
  const pressed = value?.oneOrMore().map((key) => printable(key))
  const wrong = pressed?.find(
    (key) => [...key].length > 1 && !/^([CMS]-)*([!-~]|[A-Z][A-Za-z]+|F[0-9]{1,2})$/.test(key),
  )
  if (value && wrong !== undefined)
    throw value.wrong(`contains ${JSON.stringify(wrong)}, which is not a key`, 'Write a list such as ["y", "Enter"]')
  return pressed
}

function variableName(value: ConfigValue | undefined): string | undefined {
  const name = value?.text()
  if (value && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name ?? ''))
    throw value.wrong('is not a variable name', 'Write it like VIBE_SESSION_ID')
  return name
}

function jsonPath(value: ConfigValue | undefined): string | undefined {
  const path = value?.text()
  if (value && !parseJsonPath(path ?? ''))
    throw value.wrong('is not a JSON path', 'Write it like .session_id or .result.id or .items[0].id')
  return path
}

function icon(value: ConfigValue | undefined): string | undefined {
  const text = value && printable(value)
  if (value && [...(text ?? '')].length > 8) throw value.wrong('is longer than an icon', 'Use one character')
  return text
}

/** A relative path is below the directory of the configuration file. */
function filePath(value: ConfigValue | undefined): string | undefined {
  const path = value && printable(value)
  if (!value || path === undefined || path.startsWith('~/') || isAbsolute(path)) return path
  return join(dirname(value.file), path)
}

function variables(value: ConfigValue | undefined): Record<string, string> {
  if (!value) return {}
  const names = Object.keys(value.table())
  const wrong = names.find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
  if (wrong !== undefined) throw value.get(wrong).wrong('is not a variable name', 'Use letters, digits and "_"')
  return Object.fromEntries(names.map((name) => [name, value.get(name).text()]))
}

type Present<Fields> = { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> }

const present = <Fields extends object>(fields: Fields): Present<Fields> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<Fields>
