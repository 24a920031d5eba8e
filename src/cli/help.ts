import type { Field, Fields } from '../operations/index.js'
import type { Command } from './command.js'
import { type CommandEntry, type CommandTable, isNoun } from './command-table.js'
import { GLOBAL_OPTIONS, globalsBeside } from './global-options.js'
import { usageLine } from './input/sort-args.js'
import { lookUp, SHORT_NOUN } from './route.js'
import type { Screen } from './screen/screen.js'
import { wrap } from './screen/wrap.js'

const ENVIRONMENT: readonly (readonly [string, string])[] = [
  ['SKEIN_HOME', 'Directory for all data and settings (default: the XDG directories)'],
  ['SKEIN_PROFILE', 'The profile to use'],
  ['SKEIN_SESSION', 'The default session of `skein session` commands'],
  ['SKEIN_ACTOR', 'Name recorded with each change (default: your user name)'],
  ['SKEIN_PASSPHRASE', 'The passphrase of skein pack and unpack, instead of --passphrase-file'],
  ['SKEIN_DEBUG', 'Set to 1 to show stack traces'],
  ['NO_COLOR', 'Set to disable colours'],
]

/** The help page of a command, of a noun, or of Skein as a whole. */
export async function helpFor(words: readonly string[], table: CommandTable, screen: Screen): Promise<string> {
  const entry = lookUp(words, table)
  if (isNoun(entry)) {
    const own = entry.otherwise && commandHelp(await entry.otherwise.load(), screen)
    const verbs = Object.keys(entry.entries).length > 0 ? tableHelp(words, entry, screen) : undefined
    return [own, verbs].filter((part) => part !== undefined).join('\n\n') || tableHelp(words, entry, screen)
  }
  return commandHelp(await entry.load(), screen)
}

function tableHelp(words: readonly string[], table: CommandTable, screen: Screen): string {
  const { summary } = table
  const path = ['skein', ...words].join(' ')
  const more = words.length === 0 ? 'skein help <command>' : `${path} <command> --help`
  return [
    ...wrap(summary, screen.width),
    '',
    ...usage(`${path} <command> [options]`, screen),
    '',
    ...commandLines(table, screen),
    ...(words.length === 0 ? ['', screen.paint.bold('Names:'), ...pairs(NAMES, screen)] : []),
    '',
    screen.paint.bold('Options everywhere:'),
    ...pairs(optionRows(GLOBAL_OPTIONS), screen),
    '',
    ...(words.length === 0 ? [screen.paint.bold('Environment:'), ...pairs(ENVIRONMENT, screen), ''] : []),
    `More: ${more}`,
  ].join('\n')
}

/** Under headings where the table has them; each list is as wide as the widest of all. */
function commandLines({ entries, headings }: CommandTable, screen: Screen): string[] {
  const { paint } = screen
  const rows = Object.entries(entries).map(([name, entry]) => [name, entryLine(entry)] as const)
  if (!headings) return [paint.bold('Commands:'), ...pairs(rows, screen)]
  const widest = Math.max(...rows.map(([name]) => name.length))
  return headings.flatMap(({ title, names }, at) => {
    const own = names.map((name) => rows.find(([one]) => one === name) ?? ([name, ''] as const))
    return [...(at > 0 ? [''] : []), paint.bold(`${title}:`), ...pairs(own, screen, widest)]
  })
}

/** How agents and sessions are named on the command line. */
const NAMES: readonly (readonly [string, string])[] = [
  [
    '<agent>',
    "Its address (web/shop), a unique suffix of it (shop), its title, the beginning of its id or of its session's id, or . for the agent in this directory",
  ],
  ['<session>', 'The beginning of its id, or an agent, which means its current session'],
  [SHORT_NOUN, 'Optional where no other command has the same name: skein show <session>'],
]

function entryLine(entry: CommandTable | CommandEntry): string {
  const verbs = isNoun(entry) ? Object.keys(entry.entries) : []
  return verbs.length > 0 ? `${entry.summary}: ${verbs.join(', ')}` : entry.summary
}

function commandHelp(command: Command, screen: Screen): string {
  const { bold } = screen.paint
  const section = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ['', bold(title), ...lines]
  const args = Object.entries(command.args).map(([name, input]) => [name, meaning(input)] as const)
  return [
    ...wrap(command.summary, screen.width),
    ...(command.description ? ['', ...wrap(command.description, screen.width)] : []),
    '',
    ...usage(usageLine(command), screen),
    ...section('Arguments:', pairs(args, screen)),
    ...section('Options:', pairs(optionRows(command.options), screen)),
    ...section('Options everywhere:', pairs(optionRows(globalsBeside(command.options)), screen)),
    ...section(
      'Examples:',
      // A command is not broken: it is there to be copied.
      command.examples.flatMap(([line, what]) => [...indented(2, `${what}:`, screen), `    ${line}`]),
    ),
  ].join('\n')
}

/** Left: how an option is typed. Right: what it does. */
export function optionRows(options: Fields): (readonly [string, string])[] {
  return Object.entries(options).map(([name, input]) => {
    const names = [
      ...(input.short ? [`-${input.short}`] : []),
      `--${name}`,
      ...(input.aliases ?? []).map((a) => `--${a}`),
    ]
    const value = input.kind ? ` ${input.kind.placeholder}` : ''
    return [`${names.join(', ')}${value}`, meaning(input)] as const
  })
}

/** The summary of an input, with what it may be and what it is when not given. */
export function meaning(input: Field<unknown>): string {
  const facts = [
    ...(input.kind?.choices ? [`one of ${input.kind.choices.join(', ')}`] : []),
    ...(input.isRepeated ? ['may be repeated'] : []),
    ...(input.fallback === undefined ? [] : [`default: ${input.fallback}`]),
  ]
  return facts.length === 0 ? input.summary : `${input.summary} (${facts.join('; ')})`
}

/** On a screen with no room for two columns, the right one goes below the left. */
const LEAST_RIGHT = 30

function pairs(rows: readonly (readonly [string, string])[], screen: Screen, least = 0): string[] {
  const width = Math.min(30, Math.max(least, ...rows.map(([left]) => left.length)))
  const isNarrow = screen.width - width - 4 < LEAST_RIGHT
  return rows.flatMap(([left, right]) => {
    if (isNarrow) return [`  ${left}`, ...indented(6, right, screen)]
    const [first = '', ...rest] = indented(width + 4, right, screen)
    return left.length > width
      ? [`  ${left}`, first, ...rest]
      : [`  ${left.padEnd(width)}${first.slice(width + 2)}`, ...rest]
  })
}

function usage(line: string, screen: Screen): string[] {
  const [first = '', ...rest] = indented(7, line, screen)
  return [`${screen.paint.bold('Usage:')} ${first.slice(7)}`, ...rest]
}

const indented = (by: number, text: string, { width }: Screen): string[] =>
  wrap(text, width - by).map((line) => ' '.repeat(by) + line)
