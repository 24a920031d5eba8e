import type { Answer } from './answer-reader.js'

/** A way to put a line of commands to a tmux server. */
export interface Asker extends AsyncDisposable {
  readonly isOpen: boolean
  /** Rejects with `tmux-timeout` when no answer came in time, and with `ConnectionLost` when none can come any more. */
  ask(command: string, timeoutMs: number): Promise<Answer>
}

/** The connection ended before this was answered: it may have been done or not. */
export class ConnectionLost extends Error {}
