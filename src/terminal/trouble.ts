import { SkeinError } from '../model/index.js'
import type { PaneId, TmuxSocket } from './terminal.js'

export const nameOf = (socket: TmuxSocket): string => ('name' in socket ? socket.name : socket.path)

export const serverGone = (socket: TmuxSocket): SkeinError =>
  new SkeinError(
    'tmux-gone',
    `There is no tmux server ${nameOf(socket)}.`,
    'Starting an agent starts it again: skein start',
  )

export const noAnswer = (socket: TmuxSocket, what: string): SkeinError =>
  new SkeinError(
    'tmux-timeout',
    `The tmux server ${nameOf(socket)} did not answer (${what}); the outcome is unknown.`,
    'Try again; if this persists, check whether the server hangs: skein list',
  )

export const paneGone = (pane: PaneId | string): SkeinError =>
  new SkeinError('pane-gone', `Pane ${pane} no longer exists.`, 'See what runs: skein list')

/** tmux's own words, told apart by what the caller can do about it. */
export function refused(words: string): SkeinError {
  const pane = /^can't find pane: (%\d+)$/.exec(words)?.[1]
  if (pane !== undefined) return paneGone(pane)
  return new SkeinError('tmux-refused', `tmux refused: ${words}`, 'See what runs: skein list')
}

export const tmuxMissing = (what: string): SkeinError =>
  new SkeinError(
    'tmux-missing',
    what,
    'Install tmux 3.2 or newer: apt install tmux, dnf install tmux, or brew install tmux',
  )
