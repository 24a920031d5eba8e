import { createHash } from 'node:crypto'
import { lstatSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { makeDirectory } from '../../disk/index.js'
import { type Settings, settingsTable } from '../../home/index.js'
import { SkeinError } from '../../model/index.js'
import type { TmuxSocket } from '../../terminal/index.js'

/** The system's limit for the path of a socket. */
const MAX_BYTES = 107

export interface SocketFacts {
  /** The home's root when the user has set one of their own (SKEIN_HOME): it has a tmux server of its own. */
  readonly ownRoot: string | undefined
  /** Where temporary files go. */
  readonly temporary: string
  readonly userId: number | undefined
}

/** `[tmux] socket` of the configuration, a name or a path; else the server that belongs to the home. */
export function tmuxSocket(settings: Settings, file: string, facts: SocketFacts): TmuxSocket {
  const { socket } = settingsTable(settings, 'tmux', file)
  if (socket === undefined) return socketOfHome(facts)
  if (typeof socket === 'string' && socket !== '')
    return socket.includes('/') ? { path: resolve(socket) } : { name: socket }
  const next = 'Write a name such as "skein", or a path such as "/run/user/1000/skein.sock"'
  throw new SkeinError('bad-config', `tmux.socket in ${file} is ${JSON.stringify(socket)}, not a name or a path`, next)
}

/** Homes that were chosen apart never share a server, so that one's agents are not in the way of another's. */
export function socketOfHome({ ownRoot, temporary, userId }: SocketFacts): TmuxSocket {
  if (ownRoot === undefined) return { name: 'skein' }
  const path = join(resolve(ownRoot), 'tmux.sock')
  if (Buffer.byteLength(path) <= MAX_BYTES) return { path }
  const name = createHash('sha256').update(resolve(ownRoot)).digest('hex').slice(0, 24)
  const short = join(temporary, `skein-${userId ?? 'user'}`, `${name}.sock`)
  makePrivate(dirname(short), userId)
  return { path: short }
}

/** In a directory that all may write to, another user could have put one there before. */
function makePrivate(directory: string, userId: number | undefined): void {
  makeDirectory(directory)
  const stat = lstatSync(directory)
  const isOurs = stat.isDirectory() && (userId === undefined || stat.uid === userId) && (stat.mode & 0o077) === 0
  if (isOurs) return
  const next = 'Remove it, or set [tmux] socket in config.toml to a path of your own'
  throw new SkeinError('home-not-ours', `${directory} is not a directory that only you can use`, next)
}

/** `default_tool` of the configuration: what is started when nobody says. */
export function defaultTool(settings: Settings, file: string): string | undefined {
  const { default_tool: tool } = settings
  if (tool === undefined || (typeof tool === 'string' && tool !== '')) return tool
  throw new SkeinError(
    'bad-config',
    `default_tool in ${file} is ${JSON.stringify(tool)}, not a name`,
    'Write one such as "claude"',
  )
}
