import { safeText } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'

/** What is now noted of a turn. */
export function turnMarkView(
  { session, turn, note, is_pinned }: { session: string; turn: number; note?: string; is_pinned: boolean },
  { paint }: Screen,
): string {
  const said = note === undefined ? 'no note' : `note: ${note.split('\n').map(safeText).join(' ')}`
  return `${paint.cyan(`Turn ${turn}`)} of ${session.slice(0, 8)}: ${is_pinned ? 'pinned, ' : ''}${said}`
}
