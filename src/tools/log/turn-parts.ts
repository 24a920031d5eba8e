import type { Remark } from './turn.js'

/** A remark or a call of a turn. */
export type TurnPart<Call> = { kind: 'remark'; text: string } | { kind: 'call'; call: Call }

/** What came between prompt and reply, in the order in which it came. */
export function turnParts<Call>(turn: { remarks?: readonly Remark[]; tool_calls: readonly Call[] }): TurnPart<Call>[] {
  const remarks = turn.remarks ?? []
  const before = (calls: number): TurnPart<Call>[] =>
    remarks.filter((one) => one.after_calls === calls).map(({ text }) => ({ kind: 'remark', text }))
  return [
    ...turn.tool_calls.flatMap((call, at): TurnPart<Call>[] => [...before(at), { kind: 'call', call }]),
    ...before(turn.tool_calls.length),
  ]
}
