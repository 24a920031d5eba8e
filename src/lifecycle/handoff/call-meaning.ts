import { TOOL_KINDS } from '../../privacy/index.js'
import { commandIn } from '../../tools/index.js'

type Arguments = Readonly<Record<string, unknown>>

const namesOf = (kind: string): ReadonlySet<string> => new Set(TOOL_KINDS.find(({ what }) => what === kind)?.names)
const CHANGERS = namesOf('change a file')
const READERS = namesOf('read a file')
const COMMANDS = namesOf('run a command')
const LISTS = namesOf('keep a list of things to do')
const ASKING = new Set(['AskUserQuestion', 'question', 'ask_user', 'request_user_input'])

/** What agent programs call the argument that names a file. */
const PATHS = ['file_path', 'filePath', 'path', 'notebook_path', 'absolute_path', 'target_file']
const PATCH_LINE = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm
const PATCHES = '*** Begin Patch'

/** What a tool call does, by its name and arguments, for the programs whose logs Skein reads. */
export type CallMeaning =
  | { kind: 'changes' | 'reads'; paths: string[] }
  | { kind: 'runs'; command: string; paths: string[] }
  | { kind: 'list'; items: ListItem[]; isWhole: boolean }
  | { kind: 'asks'; question: string }
  | { kind: 'other' }

/** An item of a list of things to do. */
export interface ListItem {
  /** Absent where the program identifies it only later, in the result. */
  id?: string | undefined
  text?: string | undefined
  status: 'open' | 'done' | 'dropped'
}

export function meaningOf(name: string, args: Arguments): CallMeaning {
  if (CHANGERS.has(name)) return { kind: 'changes', paths: pathsIn(args) }
  if (READERS.has(name)) return { kind: 'reads', paths: pathsIn(args) }
  if (COMMANDS.has(name)) {
    const command = commandIn(args)
    // Codex changes files with a program of its own that is run like any other.
    return { kind: 'runs', command, paths: command.includes(PATCHES) ? patchedIn(command) : [] }
  }
  if (LISTS.has(name)) return listIn(name, args)
  if (ASKING.has(name)) return { kind: 'asks', question: questionIn(args) }
  return { kind: 'other' }
}

/** The same command, however it is spaced and wherever it was run. */
export function commandKey(command: string): string {
  return command
    .replace(/^\s*cd\s+\S+\s*(?:&&|;)\s*/, '')
    .replace(/\s+/g, ' ')
    .trim()
}

function pathsIn(args: Arguments): string[] {
  const named = PATHS.flatMap((name) => textOf(args[name]) ?? [])
  if (named.length > 0) return named.slice(0, 1)
  const listed = PATHS.concat('paths', 'files').flatMap((name) => (Array.isArray(args[name]) ? args[name] : []))
  const paths = listed.flatMap((one) => textOf(one) ?? [])
  if (paths.length > 0) return paths
  return Object.values(args).flatMap((value) => (typeof value === 'string' ? patchedIn(value) : []))
}

const patchedIn = (text: string): string[] => [...text.matchAll(PATCH_LINE)].map(([, path = '']) => path.trim())

function listIn(name: string, args: Arguments): CallMeaning {
  const whole = args.todos ?? args.plan ?? args.items
  if (Array.isArray(whole)) return { kind: 'list', items: whole.flatMap(itemOf), isWhole: true }
  // One item at a time.
  const text = textOf(args.subject) ?? textOf(args.description)
  const id = textOf(args.taskId) ?? textOf(args.id)
  if (name === 'TaskCreate' && text !== undefined)
    return { kind: 'list', items: [{ text, status: 'open' }], isWhole: false }
  if (name === 'TaskUpdate' && id !== undefined)
    return { kind: 'list', items: [{ id, text, status: statusOf(args.status) }], isWhole: false }
  return { kind: 'other' }
}

function itemOf(value: unknown): ListItem[] {
  if (typeof value === 'string') return [{ text: value, status: 'open' }]
  if (typeof value !== 'object' || value === null) return []
  const item = value as Arguments
  const text = textOf(item.content) ?? textOf(item.step) ?? textOf(item.description) ?? textOf(item.text)
  return text === undefined ? [] : [{ id: textOf(item.id), text, status: statusOf(item.status) }]
}

function statusOf(status: unknown): ListItem['status'] {
  if (status === 'completed' || status === 'done') return 'done'
  return status === 'cancelled' || status === 'canceled' || status === 'deleted' ? 'dropped' : 'open'
}

function questionIn(args: Arguments): string {
  const first = Array.isArray(args.questions) ? args.questions[0] : args
  const { question, prompt, text } = (typeof first === 'object' && first !== null ? first : {}) as Arguments
  return textOf(question) ?? textOf(prompt) ?? textOf(text) ?? ''
}

/** Not one of the types that a policy leaves in place of values. */
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && !/^\[(?:string|number|boolean|null|array|object)\]$/.test(value)
    ? value
    : undefined
