import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** `0A` is LISTEN; the tables give addresses and ports in hexadecimal. */
const LISTENING = '0A'

/**
 * Whether one of these processes listens on a port of this machine: a port that was free when it was chosen may be another program's by
 * now, which must not get the secret meant for ours. Undefined where that cannot be seen (no /proc).
 */
export function isListenedOnBy(port: number, pids: readonly number[]): boolean | undefined {
  const inodes = listenersOn(port)
  if (!inodes) return undefined
  return pids.some((pid) => socketsOf(pid).some((inode) => inodes.has(inode)))
}

function listenersOn(port: number): Set<string> | undefined {
  const tables = ['/proc/self/net/tcp', '/proc/self/net/tcp6'].flatMap((path) => textOf(path) ?? [])
  if (tables.length === 0) return undefined
  const wanted = port.toString(16).toUpperCase().padStart(4, '0')
  const rows = tables.flatMap((table) => table.split('\n').slice(1)).map((line) => line.trim().split(/\s+/))
  const listening = rows.filter(([, local = '', , state]) => state === LISTENING && local.endsWith(`:${wanted}`))
  return new Set(listening.flatMap((row) => row[9] ?? []))
}

function socketsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => inodeAt(`/proc/${pid}/fd/${fd}`) ?? [])
  } catch {
    return [] // ended, or another user's
  }
}

function inodeAt(path: string): string | undefined {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(path))?.[1]
  } catch {
    return undefined // closed meanwhile
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
