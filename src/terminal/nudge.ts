import { lifeOf, type ProcessOwner } from '../disk/index.js'
import { isTmux } from './pane-list.js'

/** How often a server is nudged while its events are followed: how late a death can be told at worst. */
export const NUDGE_MS = 500

/**
 * Makes a tmux server look whether programs have ended. It should do so by itself, but as Debian and others build it (with
 * libutempter), it turns off the very signal that tells while it takes a closed terminal out of the list of logins, which is just
 * when programs end: one death in five stayed unnoticed until the next one. The signal does nothing else, to any process.
 */
export function nudge(serverPid: number): void {
  if (!isTmux(serverPid)) return
  try {
    process.kill(serverPid, 'SIGCHLD')
  } catch {
    // The server has just ended; its connection will tell.
  }
}

/** Nudges a server until it is disposed of: for as long as a person looks at one of its panes, which shows the end of its program. */
export function attend(server: ProcessOwner): Disposable {
  const nudging = setInterval(() => {
    if (lifeOf(server) === 'alive') nudge(server.pid)
  }, NUDGE_MS).unref()
  return { [Symbol.dispose]: () => clearInterval(nudging) }
}
