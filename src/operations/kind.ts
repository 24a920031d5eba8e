import { isAbsolute, resolve } from 'node:path'
import { type Instant, MAX_ORDER, nearest, parseWhen, SkeinError } from '../model/index.js'

/** What the shell can be offered for a value. */
export type Completes = 'session' | 'agent' | 'group' | 'profile' | 'event-type' | 'directory'

/** Where and when somebody says something. */
export interface Scope {
  readonly nowMs: number
  /** Where relative paths begin. Absent where nobody is in a directory: then only absolute paths are taken. */
  readonly cwd?: string
}

/** A JSON value that is not text. */
export type Sent = number | boolean | null | readonly unknown[] | Readonly<Record<string, unknown>>

/** A JSON Schema, as OpenAPI 3.1 takes it. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** What a value may be, and what it becomes. */
export interface Kind<Value> {
  /** How help names it: `<address>`. */
  readonly placeholder: string
  readonly choices?: readonly string[]
  readonly completes?: Completes
  /** Absent for text. */
  readonly schema?: JsonSchema
  /** Throws an error that says what was expected. */
  parse(text: string, scope: Scope): Value
  /** Takes a JSON value that is not text; undefined when it is not one of these. Every value that is not text is taken again. */
  sent?(value: Sent, scope: Scope): Value | undefined
}

export const text = (name: string, completes?: Completes): Kind<string> => ({
  placeholder: `<${name}>`,
  ...(completes ? { completes } : {}),
  schema: { type: 'string', minLength: 1 },
  parse: (given) => {
    if (given !== '') return given
    throw new SkeinError('usage', `<${name}> is empty`, `Enter a value`)
  },
})

/** Text that may be empty: a title to take away, a message. */
export const freeText = (name: string): Kind<string> => ({ placeholder: `<${name}>`, parse: (given) => given })

export const choice = <const Choice extends string>(name: string, choices: readonly Choice[]): Kind<Choice> => ({
  placeholder: `<${name}>`,
  choices,
  schema: { type: 'string', enum: choices },
  parse: (given) => {
    const chosen = choices.find((one) => one === given)
    if (chosen !== undefined) return chosen
    const meant = nearest(given, choices)
    const hint = meant === undefined ? '' : `Did you mean ${meant}? `
    throw new SkeinError('usage', `${JSON.stringify(given)} is not a valid ${name}`, `${hint}Use ${orList(choices)}`)
  },
})

/** A whole number, from one up. */
export const count: Kind<number> = {
  placeholder: '<n>',
  schema: { type: 'integer', minimum: 1, maximum: 999_999_999 },
  parse: (given) => {
    const number = /^\d{1,9}$/.test(given) ? Number(given) : 0
    if (number >= 1) return number
    throw new SkeinError('usage', `${JSON.stringify(given)} is not a positive whole number`, 'Write it like 50')
  },
  sent: (value, scope) => (typeof value === 'number' ? count.parse(String(value), scope) : undefined),
}

/** A place in an order, from zero up. */
export const place: Kind<number> = {
  placeholder: '<n>',
  schema: { type: 'integer', minimum: 0, maximum: MAX_ORDER },
  parse: (given) => {
    if (/^\d{1,9}$/.test(given)) return Number(given)
    throw new SkeinError(
      'usage',
      `${JSON.stringify(given)} is not a whole number from 0 to ${MAX_ORDER}`,
      'Write it like 0 (first) or 5',
    )
  },
  sent: (value, scope) => (typeof value === 'number' ? place.parse(String(value), scope) : undefined),
}

/** A moment: a span back from now, a day, or a full time. */
export const when: Kind<Instant> = { placeholder: '<when>', parse: (given, { nowMs }) => parseWhen(given, nowMs) }

export const sessionRef = text('session', 'session')
export const agentRef = text('agent', 'agent')
export const groupRef = text('group', 'group')
/** A directory as it was written. */
export const directory = text('directory', 'directory')

/** A file or directory as an absolute path. The working directory is asked for only where it is needed: it may be gone. */
export const path = (name: string, completes?: Completes): Kind<string> => ({
  ...text(name, completes),
  parse: (given, scope) => {
    const written = text(name).parse(given, scope)
    if (isAbsolute(written)) return resolve(written)
    const { cwd } = scope
    if (cwd !== undefined) return resolve(cwd, written)
    throw wrongInput(`${JSON.stringify(written)} is not an absolute path`, 'Begin it with /')
  },
})

export const wrongInput = (message: string, next: string): SkeinError => new SkeinError('bad-input', message, next)

const orList = (items: readonly string[]): string =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} or ${items.at(-1)}`
