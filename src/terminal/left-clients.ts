import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { lifeOf, type ProcessOwner, thisProcess } from '../disk/index.js'
import { commandLine } from './command-line.js'
import { KEEPER } from './server.js'

/** In the environment of a control client: the process that it belongs to. */
const OWNER = 'SKEIN_CLIENT_OF'
/** How long a client may take to leave. */
const LEAVE_MS = 1_000
const LOOK_MS = 10

/** What marks a control client as one of this process. */
export const ownerMark = (): Record<string, string> => ({ [OWNER]: JSON.stringify(thisProcess()) })

/** The pids of the control clients that are in our session. */
export const listClients = (): string =>
  commandLine('list-clients', '-t', `=${KEEPER}`, '-F', '#{?client_control_mode,#{client_pid},}')

/**
 * Ends control clients whose owner was killed, from the answer to `listClients`. tmux does not let a client go that it has something to write
 * for, and nobody reads what it writes for these: each would stay for as long as the server does, and the server for as long as they do.
 * Returns whether there were any. They are asked to go, never killed: see `ControlClient`.
 */
export async function endLeftClients(listed: readonly string[]): Promise<boolean> {
  const left = listed.map(Number).filter((pid) => pid > 0 && isLeft(pid))
  for (const pid of left) {
    try {
      process.kill(pid, 'SIGTERM')
    } catch {
      // It has just left.
    }
  }
  const end = performance.now() + LEAVE_MS
  while (left.some((pid) => lifeOf({ pid }) === 'alive') && performance.now() < end) await sleep(LOOK_MS)
  return left.length > 0
}

/** Proven by its own environment, which only Linux shows. */
function isLeft(pid: number): boolean {
  const owner = ownerOf(pid)
  return owner?.starttime !== undefined && lifeOf(owner) === 'dead'
}

function ownerOf(client: number): ProcessOwner | undefined {
  try {
    const variables = readFileSync(`/proc/${client}/environ`, 'utf8').split('\0')
    const mark = variables.find((one) => one.startsWith(`${OWNER}=`))
    return mark === undefined ? undefined : JSON.parse(mark.slice(OWNER.length + 1))
  } catch {
    return undefined
  }
}
