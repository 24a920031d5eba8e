import type { Fact } from '../tools/index.js'

type Kind = Fact['kind']
type FieldOf<K extends Kind> = Exclude<keyof Extract<Fact, { kind: K }>, 'kind'>

/** What stands where in a row. At the end of a list more may be added; nothing may be moved. */
const FIELDS = {
  turn: fields<'turn'>()('turn', 'at', 'agent', 'prompt', 'by', 'follows', 'copied', 'spawned_by', 'prompt_chars'),
  said: fields<'said'>()('turn', 'at', 'agent', 'message', 'part', 'text'),
  'tool-call': fields<'tool-call'>()('turn', 'at', 'agent', 'call', 'name', 'arguments', 'argument_names'),
  'tool-result': fields<'tool-result'>()(
    ...(['turn', 'at', 'agent', 'call', 'result', 'success', 'result_chars', 'duration_ms', 'agent_started'] as const),
  ),
  usage: fields<'usage'>()('turn', 'at', 'agent', 'usage', 'copied', 'copied_from', 'copied_at', 'made'),
  mark: fields<'mark'>()('turn', 'at', 'agent', 'mark', 'detail', 'duration_ms'),
}

/** Which of them a row is, by its first number; at the end more may be added. */
const KINDS_OF_ROWS = ['turn', 'said', 'tool-call', 'tool-result', 'usage', 'mark'] as const
const NUMBERS = new Map<Kind, number>(KINDS_OF_ROWS.map((kind, number) => [kind, number]))

/** The number of its kind, then its fields in their order. What is absent is null, or not there at the end. */
export type FactRow = [kind: number, ...values: unknown[]]

/** A fact as a short list, without the names of its fields. `instead` stands for the field `name`. */
export function rowOf(fact: Fact, name?: string, instead?: unknown): FactRow | undefined {
  const number = NUMBERS.get(fact.kind)
  if (number === undefined) return undefined
  const names: readonly string[] = FIELDS[KINDS_OF_ROWS[number] as keyof typeof FIELDS]
  const row: FactRow = [number]
  let length = 1
  for (let at = 0; at < names.length; at += 1) {
    const value = names[at] === name ? instead : (fact as unknown as Record<string, unknown>)[names[at] as string]
    row.push(value)
    if (value !== undefined) length = at + 2
  }
  row.length = length
  return row
}

/** Undefined for a kind that a newer version knows. */
export function factIn(row: FactRow): Record<string, unknown> | undefined {
  const kind = KINDS_OF_ROWS[row[0]]
  if (!kind) return undefined
  const fact: Record<string, unknown> = { kind }
  FIELDS[kind].forEach((name, at) => {
    const value = row[at + 1]
    if (value !== undefined && value !== null) fact[name] = value
  })
  return fact
}

/** Does not compile when a field of the kind is missing: it would not be kept. */
function fields<K extends Kind>() {
  return <Name extends FieldOf<K> & string>(
    ...names: [FieldOf<K>] extends [Name] ? Name[] : never
  ): readonly string[] => names
}
