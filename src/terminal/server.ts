import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { followed, makeDirectory } from '../disk/index.js'
import { SkeinError } from '../model/index.js'
import type { TmuxSocket } from './terminal.js'
import { noAnswer, tmuxMissing } from './trouble.js'

/** A control client has to be in some session, so there is one of ours that has nothing in it. It is never shown. */
export const KEEPER = '_skein'

/** How to reach one tmux server, and with which environment programs are started for it. */
export interface TmuxServer {
  readonly socket: TmuxSocket
  readonly executable: string
  readonly environment: Readonly<Record<string, string>>
}

/**
 * What a server and our clients may know of the user's environment. tmux gives the environment of whoever starts the server to
 * every pane there will ever be, so a key that was exported for one agent must not be in it: agents get theirs by launch script.
 */
const KEPT = /^(HOME|USER|LOGNAME|SHELL|PATH|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|TMUX_TMPDIR|XDG_RUNTIME_DIR)$/
const PATH_WHEN_UNKNOWN = '/usr/local/bin:/usr/bin:/bin'

export function cleanEnvironment(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept = Object.entries(environment).flatMap(([name, value]) =>
    KEPT.test(name) && value !== undefined ? [[name, value] as const] : [],
  )
  return { PATH: PATH_WHEN_UNKNOWN, ...Object.fromEntries(kept) }
}

export const socketArguments = (socket: TmuxSocket): string[] =>
  'name' in socket ? ['-L', socket.name] : ['-S', socket.path]

/** The path of the socket; tmux's own rule for `-L`, which passes over a TMUX_TMPDIR that does not exist. */
export function socketPath({ socket, environment }: Pick<TmuxServer, 'socket' | 'environment'>): string {
  if ('path' in socket) return socket.path
  return join(realDirectory(environment.TMUX_TMPDIR) ?? '/tmp', `tmux-${process.getuid?.() ?? 0}`, socket.name)
}

function realDirectory(path: string | undefined): string | undefined {
  try {
    return path ? followed(path) : undefined
  } catch {
    return undefined
  }
}

/** tmux checks this for `-L` alone: in the directory of another user anyone could take the place of our socket. */
export function makeSocketDirectory(path: string): void {
  const directory = dirname(path)
  makeDirectory(directory)
  const { uid } = statSync(directory)
  if (process.getuid === undefined || uid === 0 || uid === process.getuid()) return
  const next = 'Remove it, or set [tmux] socket in config.toml to a path of your own'
  throw new SkeinError('home-not-ours', `${directory} belongs to another user`, next)
}

/** Whether a server listens there: asked of the socket itself, so that looking for one that is gone costs no process. */
export const isListening = (server: TmuxServer): Promise<boolean> => isListeningAt(socketPath(server))

/** Somebody else's socket does not count: what is typed for an agent must not reach another user's program. */
export function isListeningAt(path: string): Promise<boolean> {
  if (!isOurs(path)) return Promise.resolve(false)
  return new Promise((resolve) => {
    const probe = connect(path)
    const end = (answer: boolean) => {
      probe.destroy()
      resolve(answer)
    }
    probe.once('connect', () => end(true))
    // Any other error (a full backlog, no rights) says that something is there.
    probe.once('error', (error: NodeJS.ErrnoException) =>
      end(error.code !== 'ENOENT' && error.code !== 'ECONNREFUSED' && error.code !== 'ENOTDIR'),
    )
  })
}

function isOurs(path: string): boolean {
  try {
    return process.getuid === undefined || statSync(path).uid === process.getuid()
  } catch {
    return true // not there, or not to be seen: connecting says so
  }
}

/**
 * Makes our session, and with it the server when there is none. Its program has ended at once and its pane is kept: no process
 * that someone could end. Without a config file: settings come over the control connection, so that the server's command line,
 * which is that of the client that started it, is short and the same for all.
 */
export function startServer(server: TmuxServer, timeoutMs: number): Promise<void> {
  if ('path' in server.socket) makeSocketDirectory(server.socket.path)
  const args = [...socketArguments(server.socket), '-f', '/dev/null']
  args.push('new-session', '-d', '-s', KEEPER, 'true', ';', 'set-option', '-t', `=${KEEPER}:`, 'remain-on-exit', 'on')
  return new Promise((resolve, reject) => {
    // In a directory that is never removed: a server whose own directory is gone cannot start panes.
    const options = { env: server.environment, cwd: '/', timeout: timeoutMs }
    execFile(server.executable, args, options, (error, _stdout, stderr) => {
      // Another process was quicker: it is there.
      if (!error || /duplicate session/.test(stderr)) resolve()
      else if (error.killed) reject(noAnswer(server.socket, 'start'))
      else reject(tmuxMissing(`The tmux server could not be started: ${stderr.trim() || error.message}`))
    })
  })
}
