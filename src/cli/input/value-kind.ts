import { type Instant, nearest, parseWhen, SkeinError } from '../../model/index.js'

/** What the shell can be offered for a value. */
export type Completes = 'session' | 'agent' | 'group' | 'profile' | 'event-type' | 'directory'

/** What a value on the command line may be, and what it becomes. */
export interface ValueKind<Value> {
  /** How help names it: `<address>`. */
  readonly placeholder: string
  readonly choices?: readonly string[]
  readonly completes?: Completes
  /** Throws an error that says what was expected. */
  parse(text: string, nowMs: number): Value
}

export const text = (name: string, completes?: Completes): ValueKind<string> => ({
  placeholder: `<${name}>`,
  ...(completes ? { completes } : {}),
  parse: (given) => {
    if (given !== '') return given
    throw new SkeinError('usage', `<${name}> is empty`, `Give it a value`)
  },
})

/** Text that may be empty: a title to take away, a message. */
export const freeText = (name: string): ValueKind<string> => ({ placeholder: `<${name}>`, parse: (given) => given })

export const choice = <const Choice extends string>(name: string, choices: readonly Choice[]): ValueKind<Choice> => ({
  placeholder: `<${name}>`,
  choices,
  parse: (given) => {
    const chosen = choices.find((one) => one === given)
    if (chosen !== undefined) return chosen
    const meant = nearest(given, choices)
    const hint = meant === undefined ? '' : `Did you mean ${meant}? `
    throw new SkeinError('usage', `${JSON.stringify(given)} is not a valid ${name}`, `${hint}Use ${orList(choices)}`)
  },
})

/** A whole number, from one up. */
export const count: ValueKind<number> = {
  placeholder: '<n>',
  parse: (given) => {
    const number = /^\d{1,9}$/.test(given) ? Number(given) : 0
    if (number >= 1) return number
    throw new SkeinError('usage', `${JSON.stringify(given)} is not a number from 1 up`, 'Write it like 50')
  },
}

/** A moment: a span back from now, a day, or a full time. */
export const when: ValueKind<Instant> = { placeholder: '<when>', parse: parseWhen }

export const sessionRef = text('session', 'session')
export const agentRef = text('agent', 'agent')
export const groupRef = text('group', 'group')
export const directory = text('directory', 'directory')

const orList = (items: readonly string[]): string =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} or ${items.at(-1)}`
