import type { Field, Fields } from '../operations/index.js'
import type { Command } from './command.js'
import { COMMANDS, type CommandEntry, type CommandTable, isNoun } from './command-table.js'
import { type Candidate, valuesOf } from './completion-values.js'
import { DEFAULT_PROFILE, globalsBeside } from './global-options.js'
import { safeText } from './screen/safe-text.js'
import type { World } from './world.js'

// What needs no quoting in any shell. A value with anything else in it is not offered.
const PLAIN_VALUE = /^[\p{L}\p{M}\p{N}._/=@:+-]+$/u

/** Answers a completion script: `args` is the shell, then the words typed so far, the last one unfinished. */
export async function complete(args: readonly string[], world: World): Promise<string> {
  const [shell = '', ...typed] = args
  const words = shell === 'bash' ? rejoined(typed) : typed
  const before = words.slice(0, -1)
  const asked = await question(before, words.at(-1) ?? '')
  if (!asked) return ''
  const profile = lastProfile(before) || world.settings.profile || DEFAULT_PROFILE
  const candidates = asked.kind === 'words' ? asked.candidates : await valuesOf(asked.input, { world, profile })
  // Bash sees `=` as the end of a word and completes what follows it; the others complete the whole word.
  const prefix = shell === 'bash' ? '' : asked.prefix
  return candidates
    .filter(({ value }) => value.startsWith(':') || (PLAIN_VALUE.test(value) && value.startsWith(asked.partial)))
    .map(({ value, description }) => `${prefix}${value}\t${safeText(description).slice(0, 60)}\n`)
    .join('')
}

type Question =
  | { kind: 'words'; candidates: readonly Candidate[]; partial: string; prefix: string }
  | { kind: 'value'; input: Field<unknown>; partial: string; prefix: string }

/** What could stand where the cursor is. */
async function question(before: readonly string[], current: string): Promise<Question | undefined> {
  const { entry: found, rest } = walk(before)
  if (!found) return undefined
  // A noun with one meaning only takes what that command takes.
  const entry = isNoun(found) && Object.keys(found.entries).length === 0 ? (found.otherwise ?? found) : found
  const command = isNoun(entry) ? undefined : await entry.load()
  const options: Fields = { ...command?.options, ...globalsBeside(command?.options ?? {}) }
  const open = optionNamed(before.at(-1), options)
  if (open?.kind) return { kind: 'value', input: open, partial: current, prefix: '' }
  const [name = '', partial] = splitOnce(current, '=')
  const assigned = partial === undefined ? undefined : optionNamed(name, options)
  if (assigned?.kind) return { kind: 'value', input: assigned, partial: partial ?? '', prefix: `${name}=` }
  if (current.startsWith('-'))
    return { kind: 'words', candidates: optionCandidates(options), partial: current, prefix: '' }
  if (isNoun(entry)) return { kind: 'words', candidates: entryCandidates(entry), partial: current, prefix: '' }
  const input = command && argumentAt(command, options, rest)
  return input && { kind: 'value', input, partial: current, prefix: '' }
}

/** Follows the words to a noun or command; `rest` is what came after a command's name. */
function walk(before: readonly string[]): { entry: CommandTable | CommandEntry | undefined; rest: readonly string[] } {
  let entry: CommandTable | CommandEntry | undefined = COMMANDS
  for (let at = 0; at < before.length; at++) {
    const word = before[at] ?? ''
    if (word === '--profile') at += 1
    if (word.startsWith('-') || (word === 'help' && entry === COMMANDS)) continue
    const noun: CommandTable | undefined = entry && isNoun(entry) ? entry : undefined
    const isVerb: boolean = noun !== undefined && Object.hasOwn(noun.entries, word)
    entry = isVerb ? noun?.entries[word] : noun?.otherwise
    if (!entry || !isNoun(entry)) return { entry, rest: before.slice(isVerb ? at + 1 : at) }
  }
  return { entry, rest: [] }
}

function argumentAt(command: Command, options: Fields, rest: readonly string[]): Field<unknown> | undefined {
  let taken = 0
  for (const [at, word] of rest.entries()) {
    const isValue = optionNamed(rest[at - 1], options)?.kind !== undefined
    if (!word.startsWith('-') && !isValue) taken += 1
  }
  const inputs = Object.values(command.args)
  return inputs[taken] ?? inputs.findLast((input) => input.isRepeated)
}

function optionNamed(word: string | undefined, options: Fields): Field<unknown> | undefined {
  const name = word === undefined || !word.startsWith('-') ? '' : word.replace(/^--?/, '')
  if (Object.hasOwn(options, name)) return options[name]
  return Object.values(options).find((input) => input.aliases?.includes(name) || (name !== '' && input.short === name))
}

const optionCandidates = (options: Fields): Candidate[] =>
  Object.entries(options).map(([name, input]) => ({ value: `--${name}`, description: input.summary }))

const entryCandidates = (noun: CommandTable): Candidate[] => [
  ...Object.entries(noun.entries).map(([value, { summary }]) => ({ value, description: summary })),
  ...(noun === COMMANDS ? [{ value: 'help', description: 'Show help for a command' }] : []),
]

/** Puts `--agent`, `=`, `web` together again: bash splits words at `=`. */
function rejoined(words: readonly string[]): string[] {
  const whole: string[] = []
  for (const [at, word] of words.entries()) {
    const last = whole.at(-1)
    const goesOn = word === '=' || words[at - 1] === '='
    if (goesOn && last?.startsWith('--')) whole[whole.length - 1] = last + word
    else whole.push(word)
  }
  return whole
}

function lastProfile(before: readonly string[]): string | undefined {
  return before.reduce<string | undefined>((found, word, at) => {
    if (before[at - 1] === '--profile') return word
    return word.startsWith('--profile=') ? word.slice('--profile='.length) : found
  }, undefined)
}

function splitOnce(word: string, separator: string): [string, string | undefined] {
  const at = word.indexOf(separator)
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)]
}
