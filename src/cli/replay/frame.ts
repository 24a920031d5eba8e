import { cutToWidth, displayWidth, truncateToWidth } from '../screen/display-width.js'
import type { Paint } from '../screen/paint.js'
import { isOver, type Playback } from './playback.js'
import type { Piece, PieceKind, Scene } from './script.js'

/** A line of a piece as it fits on the screen. */
export interface Row {
  kind: PieceKind
  text: string
}

/** A turn broken into rows of a width, piece by piece. Done once per turn and width: a reply can be long. */
export function layOut({ pieces }: Scene, width: number): Row[][] {
  return pieces.map(({ kind, lines }) => {
    const rows =
      kind === 'call'
        ? lines.map((line) => truncateToWidth(line, width))
        : lines.flatMap((line) => wrapped(line, width))
    return rows.map((text) => ({ kind, text }))
  })
}

/** What the screen shows: the newest rows of the turn, and a line at the bottom that says where we are. */
export function frameOf(
  playback: Playback,
  script: readonly Scene[],
  laidOut: readonly Row[][],
  { rows, columns, paint }: { rows: number; columns: number; paint: Paint },
): string[] {
  const scene = script[playback.scene]
  const height = Math.max(1, rows - 1)
  const shown = scene ? shownRows(scene.pieces, laidOut, playback.atMs).slice(-height) : []
  const filled = [...shown, ...Array.from({ length: height - shown.length }, () => undefined)]
  const status = truncateToWidth(statusLine(playback, script), columns)
  return [...filled.map((row) => (row ? painted(row, paint) : '')), paint.dim(status)]
}

/** Sums of times are not exact. */
const MOMENT_MS = 0.01

/** Pieces appear one after the other, each in proportion to the time it has had. */
function shownRows(pieces: readonly Piece[], laidOut: readonly Row[][], atMs: number): Row[] {
  let shown: Row[] = []
  let left = atMs
  for (const [place, { kind, ms }] of pieces.entries()) {
    const rows = laidOut[place] ?? []
    if (place > 0 && left < MOMENT_MS) return shown // it has not begun
    if (left >= ms - MOMENT_MS) shown = shown.concat(rows)
    else {
      const isAtOnce = kind === 'head' || kind === 'call'
      return [...shown, ...(isAtOnce ? rows : beginning(rows, left / ms))]
    }
    left -= ms
  }
  return shown
}

function beginning(rows: readonly Row[], share: number): Row[] {
  const widths = rows.map(({ text }) => displayWidth(text))
  let cells = Math.floor(widths.reduce((sum, width) => sum + width, 0) * share)
  const shown: Row[] = []
  for (const [place, row] of rows.entries()) {
    const width = widths[place] ?? 0
    if (width > cells) return [...shown, { ...row, text: cutToWidth(row.text, cells) }]
    cells -= width
    shown.push(row)
  }
  return shown
}

function statusLine(playback: Playback, script: readonly Scene[]): string {
  const state = isOver(playback, script) ? 'the end' : playback.isPaused ? 'paused' : 'playing'
  const number = script[playback.scene]?.number ?? 0
  const last = script.at(-1)?.number ?? 0
  return `turn ${number} of ${last} · ${playback.speed}x · ${state} · space pause  s step  n p turns  + - speed  q quit`
}

function painted({ kind, text }: Row, paint: Paint): string {
  switch (kind) {
    case 'head':
      return paint.bold(text)
    case 'prompt':
      return paint.cyan(text)
    case 'call':
      return paint.dim(text)
    case 'error':
      return paint.red(text)
    case 'step':
    case 'remark':
    case 'reply':
      return text
  }
}

/** Measuring looks at all that is left of a line, so a very long one is taken in stretches. */
const STRETCH = 4_000

function wrapped(line: string, width: number): string[] {
  const rows: string[] = []
  for (let from = 0; from < line.length; from += STRETCH) {
    let left = line.slice(from, from + STRETCH)
    while (left !== '') {
      // A character wider than the screen still has to go somewhere.
      const row = cutToWidth(left, width) || [...left][0] || ''
      const space = row.length < left.length ? row.lastIndexOf(' ') : -1
      const kept = space > width / 2 ? row.slice(0, space + 1) : row
      rows.push(kept.trimEnd())
      left = left.slice(kept.length)
    }
  }
  return rows.length > 0 ? rows : ['']
}
