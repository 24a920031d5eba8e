import type { SessionCode, SessionHistory } from '../../home/index.js'
import type { TurnMark } from '../../model/index.js'

/** Which turns are asked for by what people said of them. */
export interface MarkFilter {
  noted?: boolean | undefined
  pinned?: boolean | undefined
  note?: string | undefined
}

export const isFiltering = ({ noted, pinned, note }: MarkFilter): boolean =>
  noted === true || pinned === true || note !== undefined

/** Only turns with such a mark. What changed between turns is not theirs. */
export function onlyMarked(
  history: SessionHistory,
  code: SessionCode,
  filter: MarkFilter,
): { history: SessionHistory; code: SessionCode } {
  if (!isFiltering(filter)) return { history, code }
  const turns = history.turns.filter(({ number }) => fits(markOf(history, number), filter))
  return { history: { ...history, turns }, code: { ...code, edits: [] } }
}

function fits(mark: TurnMark | undefined, { noted, pinned, note }: MarkFilter): boolean {
  if (!mark || (noted && mark.note === undefined) || (pinned && !mark.is_pinned)) return false
  return note === undefined || (mark.note?.toLowerCase().includes(note.toLowerCase()) ?? false)
}

export const markOf = ({ session }: Pick<SessionHistory, 'session'>, turn: number): TurnMark | undefined =>
  session.turn_marks?.find((mark) => mark.turn === turn)
