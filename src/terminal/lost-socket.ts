import { setTimeout as sleep } from 'node:timers/promises'
import { isProven, lifeOf, type ProcessOwner } from '../disk/index.js'
import { isTmux } from './pane-list.js'
import { isListeningAt, makeSocketDirectory } from './server.js'

/** How long a server may take to make its socket; it does so at once unless the machine is busy. */
const RESTORE_MS = 2_000

/**
 * Brings back the socket of a server that lives: programs that clean up /tmp remove it, and then nobody finds the server any more.
 * tmux makes its socket anew on SIGUSR1, which would end any other program, so this very process has to be proven first. True when
 * a server listens there.
 */
export async function restoreSocket(path: string, server: ProcessOwner): Promise<boolean> {
  if (lifeOf(server) !== 'alive' || !isProven(server) || !isTmux(server.pid)) return isListeningAt(path)
  if (await isListeningAt(path)) return true
  try {
    makeSocketDirectory(path)
    process.kill(server.pid, 'SIGUSR1')
  } catch {
    return false // no right to write there, or it has just ended
  }
  const until = performance.now() + RESTORE_MS
  while (performance.now() < until) {
    if (await isListeningAt(path)) return true
    await sleep(10)
  }
  return false
}
