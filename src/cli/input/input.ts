import type { ValueKind } from './value-kind.js'

/** One thing a command can be given, as an argument or as an option, and the value its `run` gets for it. */
export interface Input<Value> {
  readonly summary: string
  /** Absent for a flag, which is there or not. */
  readonly kind?: ValueKind<unknown>
  readonly isRequired: boolean
  readonly isRepeated: boolean
  /** What help says the value is when it is not given. */
  readonly fallback?: string
  /** One letter: `-n`. */
  readonly short?: string
  /** Other names for the same option. */
  readonly aliases?: readonly string[]
  /** `given` holds every value of it on the command line, in order. */
  read(given: readonly string[], nowMs: number): Value
}

export type Inputs = Readonly<Record<string, Input<unknown>>>
export type Values<Declared extends Inputs> = {
  readonly [Name in keyof Declared]: Declared[Name] extends Input<infer Value> ? Value : never
}

interface Naming {
  short?: string
  aliases?: readonly string[]
}

export const flag = (summary: string, naming: Naming = {}): Input<boolean> => ({
  summary,
  isRequired: false,
  isRepeated: false,
  ...naming,
  read: (given) => given.length > 0,
})

export const optional = <Value>(
  kind: ValueKind<Value>,
  summary: string,
  naming: Naming & { fallback?: string } = {},
): Input<Value | undefined> => ({
  summary,
  kind,
  isRequired: false,
  isRepeated: false,
  ...naming,
  read: (given, nowMs) => lastOf(given, kind, nowMs),
})

export const defaulted = <Value extends string | number>(
  kind: ValueKind<Value>,
  fallback: Value,
  summary: string,
  naming: Naming = {},
): Input<Value> => ({
  summary,
  kind,
  isRequired: false,
  isRepeated: false,
  fallback: String(fallback),
  ...naming,
  read: (given, nowMs) => lastOf(given, kind, nowMs) ?? fallback,
})

export const required = <Value>(kind: ValueKind<Value>, summary: string, naming: Naming = {}): Input<Value> => ({
  summary,
  kind,
  isRequired: true,
  isRepeated: false,
  ...naming,
  read: (given, nowMs) => kind.parse(given.at(-1) ?? '', nowMs),
})

export const repeated = <Value>(kind: ValueKind<Value>, summary: string, naming: Naming = {}): Input<Value[]> => ({
  summary,
  kind,
  isRequired: false,
  isRepeated: true,
  ...naming,
  read: (given, nowMs) => given.map((one) => kind.parse(one, nowMs)),
})

function lastOf<Value>(given: readonly string[], kind: ValueKind<Value>, nowMs: number): Value | undefined {
  const last = given.at(-1)
  return last === undefined ? undefined : kind.parse(last, nowMs)
}
