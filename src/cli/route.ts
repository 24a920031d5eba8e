import { unknownWord, usageError } from '../operations/index.js'
import { type CommandEntry, type CommandTable, isNoun } from './command-table.js'
import { GLOBAL_OPTIONS } from './global-options.js'

/** What the words on the command line ask for. */
export type Route =
  | { kind: 'version' }
  /** Nothing but global options: what there is. */
  | { kind: 'overview'; args: readonly string[] }
  /** Help for a command, for a noun, or (no words) for all of Skein. */
  | { kind: 'help'; words: readonly string[] }
  | { kind: 'complete'; args: readonly string[] }
  /** `args` is all that was typed except the command's name. */
  | { kind: 'command'; entry: CommandEntry; args: readonly string[] }

const HELP = new Set(['--help', '-h'])
const VERSION = new Set(['--version', '-V', '-v'])
/** What people type for a command out of habit. */
const ALIASES: Readonly<Record<string, string>> = { ls: 'list', ps: 'list' }
/** Two words for which people use two nouns: each means the command under the other. */
const SPELLINGS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ['session ingest', ['ingest']],
  ...['list', 'show', 'chain', 'find', 'tree'].map((verb) => [`session ${verb}`, ['sessions', verb]] as const),
  ...['start', 'end', 'handoff', 'step', 'update'].map((verb) => [`sessions ${verb}`, ['session', verb]] as const),
  ...['list', 'show', 'test'].map((verb) => [`tools ${verb}`, ['tool', verb]] as const),
])
/** What may follow `seance`; anything else is for its list. */
const SEANCE = new Set(['list', 'read', 'talk', ...HELP])
/** The noun that may be left out. */
export const SHORT_NOUN = 'sessions'
/** Called by the shells' completion scripts; not for people. */
export const COMPLETE_WORD = '__complete'

/** Finds the command among global options, which may stand before, inside or after its name. */
export function route(typed: readonly string[], table: CommandTable): Route {
  const args = spelledOut(typed)
  if (args[0] === COMPLETE_WORD) return { kind: 'complete', args: args.slice(1) }
  const words: string[] = []
  const globals: string[] = []
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg.startsWith('-') && arg !== '-') {
      if (HELP.has(arg)) return { kind: 'help', words }
      if (words.length === 0 && VERSION.has(arg)) return { kind: 'version' }
      const name = arg.split('=')[0] ?? ''
      const isProfile = /^-p./.test(name) || arg === '-p' || arg === '--profile'
      if (!isProfile && !Object.keys(GLOBAL_OPTIONS).includes(name.slice(2))) {
        const own = optionsOwner(words, table)
        if (!own) throw strayOption(name, words, table)
        // `skein turns --full web/toast`: the noun's own command has options, too.
        if (beforeTerminator(args.slice(at)).some((word) => HELP.has(word))) return { kind: 'help', words }
        return { kind: 'command', entry: own, args: [...globals, ...args.slice(at)] }
      }
      // After the command's name the letter may be an option of its own.
      globals.push(arg.replace(/^-p$/, '--profile').replace(/^-p=?(?=.)/, '--profile='))
      if (arg === '-p' || arg === '--profile') globals.push(...args.slice(++at, at + 1))
      continue
    }
    words.push(arg)
    if (words[0] === 'version') return { kind: 'version' }
    if (words[0] === 'help') {
      return { kind: 'help', words: args.slice(at + 1).filter((word) => !word.startsWith('-')) }
    }
    const other = otherwise(words, args.slice(at + 1), table)
    if (other) {
      if (beforeTerminator(args.slice(at)).some((word) => HELP.has(word)))
        return { kind: 'help', words: words.slice(0, -1) }
      return { kind: 'command', entry: other, args: [...globals, ...args.slice(at)] }
    }
    const entry = lookUp(words, table)
    if (!isNoun(entry)) {
      const rest = args.slice(at + 1)
      if (beforeTerminator(rest).some((word) => HELP.has(word))) return { kind: 'help', words }
      return { kind: 'command', entry, args: [...globals, ...rest] }
    }
  }
  return words.length === 0 ? { kind: 'overview', args: globals } : { kind: 'help', words }
}

/** The same command line in the spelling of the table. */
function spelledOut(args: readonly string[]): readonly string[] {
  const at = args[0] === 'help' ? 1 : 0
  const isBare = at === 0 && args[0] === 'seance' && !SEANCE.has(args[1] ?? '')
  if (isBare) return ['seance', 'list', ...args.slice(1)]
  const meant = SPELLINGS.get(args.slice(at, at + 2).join(' '))
  return meant ? [...args.slice(0, at), ...meant, ...args.slice(at + 2)] : args
}

/** A noun's command for a word that is none of its verbs, or is one that stands alone and would need more. */
function otherwise(words: readonly string[], rest: readonly string[], table: CommandTable): CommandEntry | undefined {
  const noun = words.length < 2 ? undefined : lookUp(words.slice(0, -1), table)
  const word = words.at(-1) ?? ''
  if (!noun || !isNoun(noun)) return undefined
  const isAlone = noun.verbsNeedWords === true && !rest.some((one) => HELP.has(one) || !one.startsWith('-'))
  return isAlone || !entryOf(noun, word) ? noun.otherwise : undefined
}

/** The command that a noun is by itself. */
function optionsOwner(words: readonly string[], table: CommandTable): CommandEntry | undefined {
  const entry = words.length === 0 ? undefined : lookUp(words, table)
  return entry && isNoun(entry) ? entry.otherwise : undefined
}

/** The command or noun of these words. Throws when there is none. */
export function lookUp(words: readonly string[], table: CommandTable): CommandTable | CommandEntry {
  let entry: CommandTable | CommandEntry = table
  for (const [at, word] of words.entries()) {
    if (!isNoun(entry))
      throw usageError(`skein ${words.slice(0, at).join(' ')} has no commands of its own`, 'See: skein --help')
    const next: CommandTable | CommandEntry | undefined =
      entryOf(entry, word) ?? (at === 0 ? shortForm(word, entry) : undefined)
    if (!next) throw unknownCommand(word, words.slice(0, at), entry, table)
    entry = next
  }
  return entry
}

function entryOf({ entries }: CommandTable, word: string): CommandTable | CommandEntry | undefined {
  if (Object.hasOwn(entries, word)) return entries[word]
  const meant = Object.hasOwn(ALIASES, word) ? ALIASES[word] : undefined
  return meant !== undefined && Object.hasOwn(entries, meant) ? entries[meant] : undefined
}

/** `skein show` is `skein sessions show`: sessions are what people ask for. */
function shortForm(word: string, table: CommandTable): CommandTable | CommandEntry | undefined {
  const sessions = entryOf(table, SHORT_NOUN)
  return sessions && isNoun(sessions) ? entryOf(sessions, word) : undefined
}

function unknownCommand(word: string, before: readonly string[], noun: CommandTable, table: CommandTable): Error {
  const path = ['skein', ...before].join(' ')
  // `skein list`: a verb without its noun.
  const owner =
    before.length === 0
      ? Object.entries(table.entries).find(([, of]) => isNoun(of) && Object.hasOwn(of.entries, word))
      : undefined
  return unknownWord('command', word, {
    candidates: Object.keys(noun.entries),
    meant: owner && `skein ${owner[0]} ${word}`,
    see: path,
  })
}

function strayOption(option: string, words: readonly string[], table: CommandTable): Error {
  const candidates = Object.keys(GLOBAL_OPTIONS).map((name) => `--${name}`)
  const entry = lookUp(words, table)
  const verbs = isNoun(entry) ? Object.keys(entry.entries) : []
  const meant = verbs.includes(option.replace(/^-+/, '')) ? option.replace(/^-+/, '') : undefined
  return unknownWord('option before the command', option, { candidates, meant, see: ['skein', ...words].join(' ') })
}

function beforeTerminator(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--')
  return end < 0 ? args : args.slice(0, end)
}
