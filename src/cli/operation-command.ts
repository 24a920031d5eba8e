import { type Field, type Fields, type Given, type Operation, readInput, type Values } from '../operations/index.js'
import type { Cli, Command, Given as Words } from './command.js'
import { perform } from './perform.js'
import type { Screen } from './screen/screen.js'

/** How an operation looks on the command line: everything that its declaration does not say. */
export interface CommandFace<Declared extends Fields, Result extends object, Own extends Fields> {
  /** As typed: `sessions list`. */
  readonly name: string
  /** Where the command says it in other words than the operation. */
  readonly summary?: string
  readonly description?: string | undefined
  readonly examples: Command['examples']
  /** Fields that are typed as words, in this order; all others are options. */
  readonly args?: readonly ((keyof Declared | keyof Own) & string)[]
  /** Fields that the command line offers otherwise, or, as `undefined`, not at all. */
  readonly fields?: Readonly<Partial<Record<keyof Declared & string, Field<unknown> | undefined>>>
  /** Options of the command line alone. */
  readonly own?: Own
  /** The options that come first in help; then the operation's other fields, and then the command's own. */
  readonly order?: readonly ((keyof Declared | keyof Own) & string)[]
  /** Completes the input by what only a command has: its environment, its directory, standard input. */
  prepare?(typed: Typed<Declared, Own>, cli: Cli): Promise<Given<Declared>> | Given<Declared>
  /** Does what is more than the operation: goes on watching, takes the terminal over. False leaves it to the operation. */
  instead?(typed: Typed<Declared, Own>, cli: Cli): Promise<boolean>
  /** The answer is bad news: exit code 1. */
  fails?(result: Result): boolean
  /** Other JSON than the result itself, such as one document per line. */
  json?(result: Result, cli: Cli, typed: Typed<Declared, Own>): Promise<void> | void
  /** The answer for people. */
  view?(result: Result, screen: Screen, typed: Typed<Declared, Own>): string
  /** The same where it takes more than the result, or says something beside it. */
  show?(result: Result, cli: Cli, typed: Typed<Declared, Own>): Promise<void> | void
}

export type Typed<Declared extends Fields, Own extends Fields = Record<never, never>> = Values<Declared> & Values<Own>

/** Declares a command that is one operation. Its arguments, options and help come from the operation. */
export function operationCommand<
  Declared extends Fields,
  Result extends object,
  Own extends Fields = Record<never, never>,
>(operation: Operation<Declared, Result>, face: CommandFace<Declared, Result, Own>): Command {
  const { name, summary = operation.summary, examples, args = [] } = face
  const { description } = 'description' in face ? face : operation
  const taken = fieldsOf(operation, face)
  const isArg = (field: string): boolean => (args as readonly string[]).includes(field)
  const own: Fields = face.own ?? {}
  const all: Fields = { ...taken, ...own }
  const options = [...new Set([...(face.order ?? []), ...Object.keys(all)])].filter((field) => !isArg(field))
  return {
    name,
    summary,
    ...(description === undefined ? {} : { description }),
    examples,
    operation,
    args: Object.fromEntries(args.map((field) => [field, all[field] as Field<unknown>])),
    options: Object.fromEntries(options.map((field) => [optionName(field), all[field] as Field<unknown>])),
    start: async (given, cli) => {
      const values = readWords(all, given, cli)
      // The one edge between what was typed and what is typed: each value was read by its own declaration.
      const typed = values as Typed<Declared, Own>
      if (await face.instead?.(typed, cli)) return
      const input = readInput(operation, only(operation.input, (await face.prepare?.(typed, cli)) ?? values), cli)
      await answer(face, await perform(operation, input, cli), typed, cli)
    },
  }
}

async function answer<Declared extends Fields, Result extends object, Own extends Fields>(
  face: CommandFace<Declared, Result, Own>,
  result: Result,
  typed: Typed<Declared, Own>,
  cli: Cli,
): Promise<void> {
  const { out } = cli
  if (face.fails?.(result)) out.fails()
  if (out.json) {
    if (face.json) await face.json(result, cli, typed)
    else out.result(result, () => '')
  } else if (face.show) await face.show(result, cli, typed)
  else out.result(result, (screen) => face.view?.(result, screen, typed) ?? '')
}

/** The operation's fields as this command offers them, in the order of the operation. */
function fieldsOf<Declared extends Fields, Result extends object, Own extends Fields>(
  { input }: Operation<Declared, Result>,
  { fields }: CommandFace<Declared, Result, Own>,
): Fields {
  const other: Readonly<Record<string, Field<unknown> | undefined>> = fields ?? {}
  const offered = Object.entries<Field<unknown>>(input).map(
    ([name, field]) => [name, Object.hasOwn(other, name) ? other[name] : field] as const,
  )
  return Object.fromEntries(offered.filter((entry): entry is [string, Field<unknown>] => entry[1] !== undefined))
}

/** What was typed, as the operation takes it: for commands that do more than the operation. */
export const typedInput = <Declared extends Fields>(
  { input }: Pick<Operation<Declared>, 'input'>,
  words: Words,
  cli: Cli,
): Values<Declared> => readWords(input, words, cli) as Values<Declared>

function readWords(fields: Fields, words: Words, cli: Cli): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(fields))
    values[name] = field.read(words[name] ?? words[optionName(name)] ?? [], cli)
  return values
}

/** What of these values is the operation's: a command may have options of its own. */
const only = (fields: Fields, values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(values).filter(([name]) => Object.hasOwn(fields, name)))

const optionName = (field: string): string => field.replaceAll('_', '-')
