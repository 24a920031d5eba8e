import type { SessionLook } from './session-look.js'

declare const paneBrand: unique symbol
/** tmux's own name of a pane, `%7`: never used again while that server lives. */
export type PaneId = string & { readonly [paneBrand]: true }

/** Which tmux server: by name (`tmux -L`) or by the path of its socket (`tmux -S`). */
export type TmuxSocket = { readonly name: string } | { readonly path: string }

/** One pane as the server knows it. */
export interface PaneInfo {
  readonly pane: PaneId
  /** The tmux session it is in. */
  readonly session: string
  /** The first process in it, which stays its leader. A pid of the server's own pid namespace, as is the next. */
  readonly pid: number
  /** The tmux server itself. */
  readonly serverPid: number
  /** The program in the foreground. */
  readonly command: string
  readonly title: string
  readonly cwd: string
  readonly width: number
  readonly height: number
  /** The process has ended and the pane was kept. */
  readonly isDead: boolean
  readonly exitStatus?: number
  readonly exitSignal?: number
  /** When its program last wrote something, to the second. */
  readonly activeAtMs?: number
  /** The user looks at it now, in some attached client. */
  readonly isSeen: boolean
  /** Our mark on it: `@skein_agent`. */
  readonly agent?: string
}

export interface NewPane extends SessionLook {
  /** Name of the tmux session to make. */
  readonly session: string
  readonly cwd: string
  /** A file for `sh` to run (see `writeLaunchScript`): so neither arguments nor environment are seen in a process list. */
  readonly script: string
  readonly width?: number
  readonly height?: number
  /** Kept as the pane's `@skein_agent`. */
  readonly agent: string
  /** The script that keys run once its program has ended (see `writeAgainScript`). */
  readonly again?: string | undefined
}

/** What happened in the server, in order, none left out: a gap in `number` is reported as `missed`. */
export type PaneEvent =
  | { readonly number: number; readonly type: 'died'; readonly pane: PaneId; readonly exitStatus?: number }
  | { readonly number: number; readonly type: 'title'; readonly pane: PaneId; readonly title: string }
  | { readonly number: number; readonly type: 'bell'; readonly pane: PaneId }
  | { readonly number: number; readonly type: 'session-closed'; readonly session: string }
  | { readonly number: number; readonly type: 'sessions-changed' }
  | { readonly number: number; readonly type: 'missed' }
  /** The server went away; the stream goes on when there is one again. */
  | { readonly number: number; readonly type: 'server-gone' }
  | { readonly number: number; readonly type: 'server-back' }

/** A key by tmux's name (`Enter`, `Escape`, `C-c`, `Down`), or one literal character. */
export type Key = string

export interface CaptureOptions {
  /** Lines of history above the screen. */
  readonly history?: number
  /** Keep colours and attributes as escape sequences: for recordings, and for dialogs that mark a choice by colour alone. */
  readonly styles?: boolean
}

/**
 * One tmux server of ours. Opened with `kept`, no process is started per question. Every call may throw a
 * `SkeinError`: `tmux-missing` (not installed, or too old), `tmux-gone` (no server), `tmux-timeout` (it did not answer:
 * nothing is known, which is not the same as gone), `pane-gone` (this pane does not exist), `tmux-refused` (its own words).
 */
export interface Terminal extends AsyncDisposable {
  readonly socket: TmuxSocket
  /** All panes of the server; an empty list when the server runs without any. Throws `tmux-gone` when there is none. */
  panes(): Promise<PaneInfo[]>
  pane(pane: PaneId): Promise<PaneInfo>
  /** The pid of the server itself, in its own pid namespace. */
  serverPid(): Promise<number>
  /** When something was last written in each pane, to the second: cheap enough to be asked for again and again. */
  activity(): Promise<Map<PaneId, number>>
  /** Starts the server when there is none. */
  create(pane: NewPane): Promise<PaneInfo>
  /** Runs a new program in the same pane, ending the old one. */
  respawn(pane: PaneId, options: Pick<NewPane, 'cwd' | 'script' | 'again'> & SessionLook): Promise<PaneInfo>
  /** Changes variables of the session that a pane is in. Programs that run in it keep those that they began with. */
  setEnvironment(pane: PaneId, environment: NonNullable<SessionLook['environment']>): Promise<void>
  capture(pane: PaneId, options?: CaptureOptions): Promise<string>
  /** Many at once, pipelined; a pane that is gone is left out. */
  captureAll(panes: readonly PaneId[], options?: CaptureOptions): Promise<Map<PaneId, string>>
  /**
   * Puts text into the pane as if pasted (bracketed, verbatim, never as keys); does not press Enter. Text with control characters
   * other than tab and line feed is refused (`bad-input`, see `checkPasteable`), and so is a pane whose program has ended.
   */
  paste(pane: PaneId, text: string): Promise<void>
  press(pane: PaneId, keys: readonly Key[]): Promise<void>
  /** Sets user options of a pane (`@skein_state`), for status lines that show them without a process. */
  publish(pane: PaneId, options: Readonly<Record<`@${string}`, string>>): Promise<void>
  /** Sets a global user option of the server. */
  publishToAll(option: `@${string}`, value: string): Promise<void>
  /** A line in the status bar of every attached client, and a bell. */
  announce(text: string, options?: { readonly bell?: boolean }): Promise<void>
  /**
   * Has the server signal every process whose environment holds this mark (`NAME=value`). For a server in another pid namespace,
   * whose processes cannot be signalled from here. Linux only.
   */
  signalMarked(mark: string, signal: 'TERM' | 'KILL'): Promise<void>
  rename(session: string, to: string): Promise<void>
  close(session: string): Promise<void>
  /**
   * Closes one pane once nobody is attached to its session: at once, or when the last client detaches. One that shares its session with
   * others of its user stays while somebody is attached. A program that is started in it again keeps it.
   */
  closeUnseen(pane: PaneId): Promise<void>
  /** Ends a server that we started when nothing but our own session is left in it and nobody is connected. */
  endIfEmpty(): Promise<void>
  /**
   * Follows what happens, until the signal aborts. Reconnects by itself. The first event is always `sessions-changed` or
   * `server-gone` and says that listening has begun: what is looked up after it, or after `server-back`, misses nothing.
   */
  follow(signal: AbortSignal): AsyncIterable<PaneEvent>
}
