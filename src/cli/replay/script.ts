import {
  callGist,
  callNotes,
  type ExportedCall,
  type ExportedSession,
  type ExportedTurn,
  turnNotes,
} from '../../interchange/index.js'
import type { Step } from '../../model/index.js'
import { turnParts } from '../../tools/index.js'
import { safeText } from '../screen/safe-text.js'

/** What a piece is decides how it looks and how it comes: typed, streamed, or all at once. */
export type PieceKind = 'head' | 'prompt' | 'remark' | 'call' | 'step' | 'reply' | 'error'

/** A part of a turn, safe to print, with the blank line after it, and how long it takes to appear. */
export interface Piece {
  kind: PieceKind
  lines: string[]
  ms: number
}

/** One turn to play. */
export interface Scene {
  number: number
  pieces: Piece[]
  /** Until the last piece is there. */
  ms: number
}

/** How fast a person types and an agent writes, and how long anybody wants to watch it. */
const TYPED = { perCharacterMs: 25, atMostMs: 4_000 }
const STREAMED = { perCharacterMs: 4, atMostMs: 12_000 }
const CALL_MS = 350
const HEAD_MS = 300

/** A session as a sequence of turns to play. */
export function scriptOf({ turns, session }: ExportedSession): Scene[] {
  const steps = new StepBounds()
  return turns.map((turn, at) => {
    const pieces = [...piecesOf(turn, steps), ...(at === turns.length - 1 ? steps.after(session.steps ?? []) : [])]
    return { number: turn.number, pieces, ms: pieces.reduce((sum, piece) => sum + piece.ms, 0) }
  })
}

/** The same for a reader who does not wait. */
export const plainLines = ({ pieces }: Scene): string[] => pieces.flatMap(({ lines }) => lines)

/** Says where one step ends and another begins. */
class StepBounds {
  #step: string | undefined

  /** After the last call: a step that was completed has ended there, and one that was not is open still. */
  after(steps: readonly Step[]): Piece[] {
    const open = steps.findLast(({ step_ref }) => step_ref === this.#step)
    return open?.completed_at === undefined ? [] : this.before({})
  }

  before({ step_ref }: Pick<ExportedCall, 'step_ref'>): Piece[] {
    if (step_ref === this.#step) return []
    const line = step_ref === undefined ? `-- end of step ${this.#step ?? ''}` : `-- step ${step_ref}`
    this.#step = step_ref
    return [{ kind: 'step', lines: [safeText(line)], ms: HEAD_MS }]
  }
}

function piecesOf(turn: ExportedTurn, steps: StepBounds): Piece[] {
  const head = [`Turn ${turn.number}`, ...turnNotes(turn).map(safeText)].join(' · ')
  return [
    { kind: 'head', lines: [head, ''], ms: HEAD_MS },
    ...piece('prompt', turn.prompt, TYPED, '> '),
    ...turnParts(turn).flatMap((part, at, parts): Piece[] => {
      if (part.kind === 'remark') return piece('remark', part.text, STREAMED)
      const isLastOfRow = parts[at + 1]?.kind !== 'call'
      const call: Piece = { kind: 'call', lines: [callLine(part.call), ...(isLastOfRow ? [''] : [])], ms: CALL_MS }
      return [...steps.before(part.call), call]
    }),
    ...piece('reply', turn.reply ?? '', STREAMED),
    ...piece('error', turn.error ?? '', STREAMED),
  ]
}

function piece(kind: PieceKind, text: string, pace: typeof TYPED, before = ''): Piece[] {
  if (text.trim() === '') return []
  const ms = Math.min(pace.atMostMs, text.length * pace.perCharacterMs)
  const lines = text.trimEnd().split(/\r?\n/)
  return [{ kind, ms, lines: [...lines.map((line) => before + safeText(line.replaceAll('\t', '    '))), ''] }]
}

/** One line per call, cut by the screen where it is too long. */
function callLine(call: ExportedCall): string {
  const notes = callNotes(call)
  const gist = callGist(call).slice(0, 400)
  const about = gist === '' ? '' : ` ${safeText(gist)}`
  return `* ${safeText(call.name)}${about}${notes.length > 0 ? ` (${notes.join(', ')})` : ''}`
}
