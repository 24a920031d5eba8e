import type { Paint } from '../screen/paint.js'
import type { Terminal } from '../screen/terminal.js'
import { frameOf, layOut, type Row } from './frame.js'
import { advance, KEYS, type Playback, press } from './playback.js'
import type { Scene } from './script.js'

const FRAME_MS = 33

export interface PlayOptions {
  terminal: Terminal
  paint: Paint
  start: Playback
  /** Ends the replay, as quitting does. */
  signal: AbortSignal
}

/** Plays a script on a terminal until somebody quits. The terminal is the caller's to close. */
export function play(script: readonly Scene[], { terminal, paint, start, signal }: PlayOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    let playback = start
    let drawn = ''
    let laidOut: { scene: number; columns: number; rows: Row[][] } | undefined
    let lastMs = performance.now()

    const draw = (): void => {
      const { rows, columns } = terminal.size()
      const scene = script[playback.scene]
      if (laidOut?.scene !== playback.scene || laidOut.columns !== columns)
        laidOut = { scene: playback.scene, columns, rows: scene ? layOut(scene, columns) : [] }
      const lines = frameOf(playback, script, laidOut.rows, { rows, columns, paint })
      const frame = lines.map((line) => `${line}\x1b[K`).join('\r\n')
      if (frame !== drawn) terminal.write(`\x1b[H${frame}\x1b[J`)
      drawn = frame
    }
    const step = (): void => {
      const nowMs = performance.now()
      playback = advance(playback, script, nowMs - lastMs)
      lastMs = nowMs
      draw()
    }
    const keys = (typed: string): void => {
      for (const character of typed) {
        const key = KEYS[character]
        if (key) playback = press(playback, script, key)
      }
      if (playback.isQuit) finish()
      else draw()
    }
    const finish = (error?: unknown): void => {
      clearInterval(timer)
      signal.removeEventListener('abort', stop)
      terminal.onKeys(undefined)
      if (error === undefined) resolve()
      else reject(error)
    }
    const stop = (): void => finish()
    const guarded =
      <Args extends unknown[]>(act: (...args: Args) => void) =>
      (...args: Args): void => {
        try {
          act(...args)
        } catch (error) {
          finish(error)
        }
      }

    const timer = setInterval(guarded(step), FRAME_MS)
    signal.addEventListener('abort', stop, { once: true })
    terminal.onKeys(guarded(keys))
    if (signal.aborted) stop()
    else guarded(draw)()
  })
}
