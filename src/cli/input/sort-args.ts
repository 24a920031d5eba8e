import { parseArgs } from 'node:util'
import type { Field, Fields } from '../../operations/index.js'
import { unknownWord, usageError } from '../../operations/index.js'
import type { Command, Given } from '../command.js'
import { globalsBeside } from '../global-options.js'

/** Sorts what was typed after a command's name by argument and option, and refuses what the command does not take. */
export function sortArgs(command: Command, args: readonly string[]): Given {
  const options: Fields = { ...globalsBeside(command.options), ...command.options }
  const names = optionNames(options)
  const see = `skein ${command.name}`
  // Not `strict`: its errors name no command and suggest nothing. Every case it refuses is refused below.
  const { tokens } = parseArgs({
    args: [...args],
    options: parserOptions(options),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const given: Record<string, string[]> = {}
  const words: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value)
    if (token.kind !== 'option') continue
    const name = names.get(token.name)
    const input = name === undefined ? undefined : options[name]
    if (name === undefined || !input) {
      throw unknownWord('option', token.rawName, {
        candidates: [...names.keys()].filter((n) => n.length > 1).map((n) => `--${n}`),
        see,
      })
    }
    given[name] = [...(given[name] ?? []), typedValue(token, input, see)]
  }
  for (const [name, input] of Object.entries(command.options)) {
    if (!input.isRequired || given[name]) continue
    throw usageError(`Missing --${name} ${input.kind?.placeholder}`, `Usage: ${usageLine(command)}`)
  }
  return { ...given, ...sortWords(command, words) }
}

/** `skein sessions show <session> [options]`. */
export function usageLine(command: Command): string {
  const args = Object.entries(command.args).map(([name, input]) => argumentSign(name, input))
  const needed = Object.entries(command.options)
    .filter(([, input]) => input.isRequired)
    .map(([name, input]) => `--${name} ${input.kind?.placeholder}`)
  return ['skein', command.name, ...args, ...needed, '[options]'].join(' ')
}

function argumentSign(name: string, input: Field<unknown>): string {
  const sign = `${name}${input.isRepeated ? '...' : ''}`
  return input.isRequired ? `<${sign}>` : `[${sign}]`
}

interface OptionToken {
  rawName: string
  value?: string | undefined
  inlineValue?: boolean | undefined
}

function typedValue(token: OptionToken, input: Field<unknown>, see: string): string {
  if (!input.kind) {
    if (token.value === undefined) return ''
    throw usageError(`${token.rawName} takes no value`, `Write ${token.rawName} alone. See: ${see} --help`)
  }
  // A word with a dash in front is more likely the next option than a value; `=` says that it is meant.
  const isNextOption = !token.inlineValue && token.value !== undefined && /^-./.test(token.value)
  if (token.value !== undefined && !isNextOption) return token.value
  const next = isNextOption
    ? `A value that begins with "-" is written ${token.rawName}=${token.value}`
    : `See: ${see} --help`
  throw usageError(`${token.rawName} needs a value: ${token.rawName} ${input.kind.placeholder}`, next)
}

function sortWords(command: Command, words: readonly string[]): Given {
  const left = [...words]
  const given: Record<string, string[]> = {}
  for (const [name, input] of Object.entries(command.args)) {
    const mine = input.isRepeated ? left.splice(0) : left.splice(0, 1)
    if (input.isRequired && mine.length === 0) throw usageError(`Missing <${name}>`, `Usage: ${usageLine(command)}`)
    given[name] = mine
  }
  const [extra] = left
  if (extra === undefined) return given
  throw usageError(`Unexpected argument ${JSON.stringify(extra.slice(0, 80))}`, `Usage: ${usageLine(command)}`)
}

/** Every name an option can be called by, and the one it is declared under. */
function optionNames(options: Fields): Map<string, string> {
  const names = new Map<string, string>()
  for (const [name, input] of Object.entries(options)) {
    for (const one of [name, ...(input.aliases ?? []), ...(input.short ? [input.short] : [])]) names.set(one, name)
  }
  return names
}

function parserOptions(options: Fields): Record<string, { type: 'string' | 'boolean'; short?: string }> {
  const parser: Record<string, { type: 'string' | 'boolean'; short?: string }> = {}
  for (const [name, input] of Object.entries(options)) {
    const type = input.kind ? 'string' : 'boolean'
    parser[name] = { type, ...(input.short ? { short: input.short } : {}) }
    for (const alias of input.aliases ?? []) parser[alias] = { type }
  }
  return parser
}
