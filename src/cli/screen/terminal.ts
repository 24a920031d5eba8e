import type { ReadStream, WriteStream } from 'node:tty'

/** A whole terminal, taken over: every key arrives as it is pressed, and the screen is ours until it is disposed. */
export interface Terminal extends Disposable {
  size(): { rows: number; columns: number }
  write(text: string): void
  /** One listener at a time. */
  onKeys(listener: ((typed: string) => void) | undefined): void
  /** The terminal has another size now. One listener at a time. */
  onResize(listener: () => void): void
}

/** The other screen, no cursor. */
const TAKE = '\x1b[?1049h\x1b[?25l\x1b[2J'
const GIVE_BACK = '\x1b[0m\x1b[?25h\x1b[?1049l'

/** Takes the terminal over. However the process ends, short of being killed outright, the terminal is left as it was found. */
export function takeTerminal(input: ReadStream, output: WriteStream): Terminal {
  let isTaken = true
  let heard: ((typed: string) => void) | undefined
  let resized: (() => void) | undefined
  const measure = (): void => resized?.()
  const listen = (chunk: Buffer): void => heard?.(chunk.toString('utf8'))
  const giveBack = (): void => {
    if (!isTaken) return
    isTaken = false
    process.removeListener('exit', giveBack)
    input.removeListener('data', listen)
    output.removeListener('resize', measure)
    input.pause()
    try {
      input.setRawMode(false)
      output.write(GIVE_BACK) // to a terminal Node writes at once, also while the process exits
    } catch {
      // The terminal has gone away: there is nothing to leave as it was.
    }
  }
  process.once('exit', giveBack)
  input.setRawMode(true)
  input.on('data', listen)
  output.on('resize', measure)
  input.resume()
  output.write(TAKE)
  return {
    size: () => ({ rows: output.rows || 24, columns: output.columns || 80 }),
    write: (text) => void output.write(text),
    onKeys: (listener) => {
      heard = listener
    },
    onResize: (listener) => {
      resized = listener
    },
    [Symbol.dispose]: giveBack,
  }
}
