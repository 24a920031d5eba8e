// Mounts a file system over a path that never answers: FUSE, with nobody to serve it. Needs a mount namespace of one's own.
import { spawnSync } from 'node:child_process'
import { closeSync, constants, openSync, readSync, statSync, writeSync } from 'node:fs'

const INIT = 26
const [DIRECTORY, FILE] = ['40000', '100000']

/**
 * Returns what takes it away. `reads`: takes each request and keeps it, as a program does that hangs; the process that asks is then in a
 * sleep that no signal ends. Else requests wait to be taken, as for a server that is gone.
 */
export function mountDead(path, { reads = false } = {}) {
  const server = openSync('/dev/fuse', constants.O_RDWR | constants.O_NONBLOCK)
  const mode = statSync(path).isDirectory() ? DIRECTORY : FILE
  const options = `fd=3,rootmode=${mode},user_id=0,group_id=0`
  const args = ['-i', '-t', 'fuse.dead', 'dead', path, '-o', options]
  const mounted = spawnSync('mount', args, { stdio: ['ignore', 'ignore', 'pipe', server], encoding: 'utf8' })
  if (mounted.status !== 0) throw new Error(`mount failed: ${mounted.stderr}`)
  const timer = reads ? setInterval(() => takeRequests(server), 5) : undefined
  return () => {
    clearInterval(timer)
    spawnSync('umount', ['-l', path])
    closeSync(server) // frees whoever still waits
  }
}

const request = Buffer.alloc(256 * 1024)

function takeRequests(server) {
  for (;;) {
    try {
      readSync(server, request)
    } catch {
      return // none is left
    }
    if (request.readUInt32LE(4) === INIT) writeSync(server, greeting(request.readBigUInt64LE(8)))
  }
}

/** Version 7.31, and the smallest limits. */
function greeting(unique) {
  const reply = Buffer.alloc(80)
  reply.writeUInt32LE(reply.length, 0)
  reply.writeBigUInt64LE(unique, 8)
  reply.writeUInt32LE(7, 16)
  reply.writeUInt32LE(31, 20)
  reply.writeUInt32LE(128 * 1024, 24)
  reply.writeUInt16LE(12, 32)
  reply.writeUInt16LE(10, 34)
  reply.writeUInt32LE(128 * 1024, 36)
  return reply
}
