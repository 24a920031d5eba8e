import { nearest } from '../model/index.js'
import type { Field, Fields, Values } from './field.js'
import { type Scope, type Sent, wrongInput } from './kind.js'
import type { Operation } from './operation.js'

/** An operation's input from a JSON object. What the operation does not take is refused. */
export function readInput<Declared extends Fields>(
  { input }: Pick<Operation<Declared>, 'input'>,
  given: Readonly<Record<string, unknown>>,
  scope: Scope,
): Values<Declared> {
  const byField = sorted(input, Object.entries(given))
  return valuesOf(input, (field, name) => field.accept(byField.get(name)?.at(-1), scope, name))
}

/** The same from a query: lists are parameters that come several times, and what is not text is written as JSON. */
export function readQuery<Declared extends Fields>(
  { input }: Pick<Operation<Declared>, 'input'>,
  query: URLSearchParams,
  scope: Scope,
): Values<Declared> {
  const byField = sorted(input, [...query])
  return valuesOf(input, (field, name) => {
    const texts = byField.get(name) ?? []
    const { kind } = field
    if (!kind) return field.read(texts, scope)
    const values = texts.map((text) => (kind.sent ? (json(text) ?? text) : text))
    return field.accept(field.isRepeated ? values : values.at(-1), scope, name)
  })
}

/** What `readQuery` reads as these values. */
export function queryOf(values: Readonly<Record<string, unknown>>): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === false) continue
    for (const one of Array.isArray(value) ? value : [value]) {
      query.append(name, typeof one === 'string' ? one : one === true ? '1' : JSON.stringify(one))
    }
  }
  return query
}

/** What was given under any name of a field, by the name that it is declared under. */
function sorted<Value>(fields: Fields, given: readonly (readonly [string, Value])[]): Map<string, Value[]> {
  const found = new Map<string, Value[]>()
  for (const [word, value] of given) {
    const name = Object.keys(fields).find((one) => one === word || fields[one]?.aliases?.includes(word))
    if (name === undefined) {
      const meant = nearest(word, Object.keys(fields))
      const hint = meant === undefined ? '' : `Did you mean ${meant}? `
      throw wrongInput(`There is no field ${JSON.stringify(word.slice(0, 80))} here`, `${hint}See docs/API.md`)
    }
    found.set(name, [...(found.get(name) ?? []), value])
  }
  return found
}

function valuesOf<Declared extends Fields>(
  fields: Declared,
  read: (field: Field<unknown>, name: string) => unknown,
): Values<Declared> {
  const values: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(fields)) values[name] = read(field, name)
  // The one edge between what was sent and what is typed: each value was read by its own declaration.
  return values as Values<Declared>
}

/** The value that a text is as JSON, unless that is text, too. */
function json(text: string): Sent | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? undefined : (value as Sent)
  } catch {
    return undefined
  }
}
