import { realPath } from '../disk/index.js'
import { socketArguments, socketPath } from './server.js'
import { checkSessionName } from './session-name.js'
import type { TmuxSocket } from './terminal.js'

export interface AttachOptions {
  readonly executable?: string
  /** The value of TMUX where the command will be run: set inside a tmux, ours or another. */
  readonly insideTmux?: string
  /** Where `-L` sockets lie; the value of TMUX_TMPDIR. */
  readonly socketDirectory?: string
}

/**
 * The command that shows a session in the user's terminal. Inside our own server it switches there. Inside another tmux it opens
 * a window of that one, which closes when the user leaves with C-q, so that the window they came from is back: a client inside
 * a pane would otherwise fight over the prefix key, and tmux refuses it.
 */
export function attachArgv(
  socket: TmuxSocket,
  session: string,
  options: AttachOptions = {},
): readonly [string, ...string[]] {
  const executable = options.executable ?? 'tmux'
  const target = `=${checkSessionName(session)}`
  const attach = [...socketArguments(socket), 'attach-session', '-E', '-t', target]
  if (!options.insideTmux) return [executable, '-u', ...attach]
  const outer = options.insideTmux.split(',')[0] ?? ''
  if (isSameSocket(outer, socket, options)) return [executable, '-S', outer, 'switch-client', '-E', '-t', target]
  return [
    ...([executable, '-S', outer, 'new-window', '-n', windowName(session)] as const),
    ...['env', '-u', 'TMUX', executable, '-u', ...attach],
  ]
}

/** tmux resolves links in the path of its socket. */
function isSameSocket(outer: string, socket: TmuxSocket, options: AttachOptions): boolean {
  const environment: Record<string, string> =
    options.socketDirectory === undefined ? {} : { TMUX_TMPDIR: options.socketDirectory }
  return realPath(outer) === realPath(socketPath({ socket, environment }))
}

/** Some versions expand formats here and others do not: only what means itself in all of them. */
const windowName = (session: string): string => session.replace(/[^A-Za-z0-9_-]/g, '_')
