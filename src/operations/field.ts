import type { Instant } from '../model/index.js'
import { type Kind, type Scope, type Sent, wrongInput } from './kind.js'

/**
 * One thing that an operation can be given, and the value that its `run` gets for it. The same declaration reads words of a command
 * line, parameters of a query and values of a JSON body, and says what help and schemas say.
 */
export interface Field<Value, IsRequired extends boolean = boolean> {
  readonly summary: string
  /** Absent for a flag, which is there or not. */
  readonly kind?: Kind<unknown>
  readonly isRequired: IsRequired
  readonly isRepeated: boolean
  /** What help says the value is when it is not given. */
  readonly fallback?: string
  /** One letter: `-n`. */
  readonly short?: string
  /** Other names for the same field. */
  readonly aliases?: readonly string[]
  /** `given` holds every word that was given for it, in order. */
  read(given: readonly string[], scope: Scope): Value
  /** The same from JSON. Reading what was read gives the same again: values can be passed on. */
  accept(given: unknown, scope: Scope, name: string): Value
}

export type Fields = Readonly<Record<string, Field<unknown>>>
export type Values<Declared extends Fields> = {
  readonly [Name in keyof Declared]: Declared[Name] extends Field<infer Value> ? Value : never
}

/** What a caller has to give: the values as JSON, those with a fallback or without need left out at will. */
export type Given<Declared extends Fields> = {
  readonly [Name in keyof Declared as Declared[Name] extends Field<unknown, true> ? Name : never]: Plain<Declared[Name]>
} & {
  readonly [Name in keyof Declared as Declared[Name] extends Field<unknown, true> ? never : Name]?: Plain<
    Declared[Name]
  >
}
type Plain<One> = One extends Field<infer Value> ? (Value extends Instant ? string : Value) : never

interface Naming {
  short?: string
  aliases?: readonly string[]
}

const OFF = new Set(['0', 'false'])

export const flag = (summary: string, naming: Naming = {}): Field<boolean, false> => ({
  summary,
  isRequired: false,
  isRepeated: false,
  ...naming,
  read: (given) => given.length > 0 && !OFF.has(given.at(-1) ?? ''),
  accept: (given, _, name) => {
    if (given === undefined || typeof given === 'boolean') return given ?? false
    throw wrongInput(`"${name}" is not true or false`, 'Write it without quotes')
  },
})

export const optional = <Value>(
  kind: Kind<Value>,
  summary: string,
  naming: Naming & { fallback?: string } = {},
): Field<Value | undefined, false> => ({
  summary,
  kind,
  isRequired: false,
  isRepeated: false,
  ...naming,
  read: (given, scope) => lastOf(given, kind, scope),
  accept: (given, scope, name) => (given === undefined ? undefined : acceptOne(given, kind, scope, name)),
})

export const defaulted = <Value extends string | number>(
  kind: Kind<Value>,
  fallback: Value,
  summary: string,
  naming: Naming = {},
): Field<Value, false> => ({
  summary,
  kind,
  isRequired: false,
  isRepeated: false,
  fallback: String(fallback),
  ...naming,
  read: (given, scope) => lastOf(given, kind, scope) ?? fallback,
  accept: (given, scope, name) => (given === undefined ? fallback : acceptOne(given, kind, scope, name)),
})

export const required = <Value>(kind: Kind<Value>, summary: string, naming: Naming = {}): Field<Value, true> => ({
  summary,
  kind,
  isRequired: true,
  isRepeated: false,
  ...naming,
  read: (given, scope) => kind.parse(given.at(-1) ?? '', scope),
  accept: (given, scope, name) => {
    if (given !== undefined) return acceptOne(given, kind, scope, name)
    throw wrongInput(`"${name}" is missing`, `It is ${summary.charAt(0).toLowerCase()}${summary.slice(1)}`)
  },
})

export const repeated = <Value>(kind: Kind<Value>, summary: string, naming: Naming = {}): Field<Value[], false> => ({
  summary,
  kind,
  isRequired: false,
  isRepeated: true,
  ...naming,
  read: (given, scope) => given.map((one) => kind.parse(one, scope)),
  accept: (given, scope, name) => {
    if (given === undefined) return []
    if (Array.isArray(given)) return given.map((one) => acceptOne(one, kind, scope, name))
    throw wrongInput(`"${name}" is not a list`, 'Write it like ["one", "another"]')
  },
})

function lastOf<Value>(given: readonly string[], kind: Kind<Value>, scope: Scope): Value | undefined {
  const last = given.at(-1)
  return last === undefined ? undefined : kind.parse(last, scope)
}

function acceptOne<Value>(given: unknown, kind: Kind<Value>, scope: Scope, name: string): Value {
  if (typeof given === 'string') return kind.parse(given, scope)
  const value = kind.sent?.(given as Sent, scope)
  if (value !== undefined) return value
  throw wrongInput(`"${name}" is not ${kind.sent ? `of the form ${kind.placeholder}` : 'text'}`, 'See docs/API.md')
}
