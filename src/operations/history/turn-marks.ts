import type { Home } from '../../home/index.js'
import { type Session, SkeinError, type TurnMark } from '../../model/index.js'
import { flag, optional, required } from '../field.js'
import { count, freeText } from '../kind.js'
import { operation } from '../operation.js'
import { SESSION } from '../sessions/session-ref.js'
import { onlyTurn } from './turns.js'

const TURN = required(count, 'Its number in skein turns')

export const turnsNote = operation({
  name: 'turns.note',
  does: 'acts',
  where: 'either',
  summary: 'Note something about a turn',
  description:
    'A turn has one note: another replaces it. It is shown in turns, show and export and found by turns --note. Secrets in it are redacted. The snapshots of a turn with a note do not expire.',
  input: {
    session: SESSION,
    turn: TURN,
    text: optional(freeText('text'), 'What to note'),
    remove: flag('Remove the note'),
  },
  result: 'turn-mark',
  async run({ session, turn, text, remove }, { home }) {
    const words = text?.trim() ?? ''
    if (remove && words !== '') throw usage('--remove takes no text', 'Leave out one of them')
    if (!remove && words === '') throw usage('The note is empty', 'Write what to note, or give --remove')
    const opened = await home()
    const { id } = remove ? await marked(opened, session, turn) : await withTurn(opened, session, turn)
    return markDocument(await opened.sessions.markTurn(id, turn, { note: words }), turn)
  },
})

export const turnsPin = operation({
  name: 'turns.pin',
  does: 'acts',
  where: 'either',
  summary: 'Keep the snapshots of a turn',
  description: 'They do not expire, however old they are. A purge erases them all the same.',
  input: { session: SESSION, turn: TURN },
  result: 'turn-mark',
  async run({ session, turn }, { home }) {
    const opened = await home()
    const { id } = await withTurn(opened, session, turn)
    return markDocument(await opened.sessions.markTurn(id, turn, { pinned: true }), turn)
  },
})

export const turnsUnpin = operation({
  name: 'turns.unpin',
  does: 'acts',
  where: 'either',
  summary: 'Let the snapshots of a turn expire again',
  description: 'A turn with a note keeps them all the same: remove it with turns note --remove.',
  input: { session: SESSION, turn: TURN },
  result: 'turn-mark',
  async run({ session, turn }, { home }) {
    const opened = await home()
    const { id } = await marked(opened, session, turn)
    return markDocument(await opened.sessions.markTurn(id, turn, { pinned: false }), turn)
  },
})

async function withTurn(home: Home, reference: string, turn: number): Promise<Session> {
  return onlyTurn(await home.history.turns(reference, { readsNew: true }), turn).session
}

/** A mark can be taken away although the turn itself is no longer known. */
async function marked(home: Home, reference: string, turn: number): Promise<Session> {
  const session = await home.sessions.find(reference)
  return markIn(session, turn) ? session : withTurn(home, session.id, turn)
}

const markIn = ({ turn_marks }: Session, turn: number): TurnMark | undefined =>
  turn_marks?.find((mark) => mark.turn === turn)

function markDocument(session: Session, turn: number) {
  const { note, is_pinned } = markIn(session, turn) ?? {}
  return { session: session.id, turn, ...(note === undefined ? {} : { note }), is_pinned: is_pinned === true }
}

const usage = (message: string, next: string): SkeinError => new SkeinError('usage', message, next)
