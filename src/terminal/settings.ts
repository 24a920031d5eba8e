import { existsSync } from 'node:fs'
import { commandLine } from './command-line.js'
import { endedKeys } from './ended-keys.js'

/** Set on a server that we started: on anyone else's nothing but our own hooks and our own session is touched. */
export const OURS = '@skein_server'

/** `-q`: an option that this version of tmux does not know yet is left alone. */
const server = (option: string, value: string) => commandLine('set-option', '-sq', option, value)
const session = (option: string, value: string) => commandLine('set-option', '-gq', option, value)
const window = (option: string, value: string) => commandLine('set-option', '-gwq', option, value)

/** What a server of ours is set to, each time we connect. The user's own config is not read: it may change any of this. */
export const settings = (): string[] => [
  session(OURS, '1'),
  server('exit-empty', 'off'),
  server('exit-unattached', 'off'),
  // An Escape key reaches the program after this, in a paste or from a slow line.
  server('escape-time', '10'),
  server('default-terminal', terminalName()),
  // Shift-Enter and the like, for programs that ask for them.
  server('extended-keys', 'on'),
  // The log of commands would keep whole prompts in memory.
  server('message-limit', '20'),
  // Nothing of a client's environment goes to the sessions it creates or attaches to.
  session('update-environment', ''),
  session('history-limit', '20000'),
  session('mouse', 'on'),
  session('set-titles', 'off'),
  session('detach-on-destroy', 'on'),
  session('destroy-unattached', 'off'),
  session('status-right', ' C-q leaves '),
  window('automatic-rename', 'off'),
  window('allow-rename', 'off'),
  window('monitor-bell', 'on'),
  // What a program prints must not reach the user's terminal unread by tmux.
  window('allow-passthrough', 'off'),
  // One key back, also when our server is shown in a window of another tmux that has the same prefix.
  commandLine('bind-key', '-n', 'C-q', 'detach-client'),
  ...endedKeys(),
]

/** The richer description where the system has it: programs look it up. */
function terminalName(): string {
  const places = ['/usr/share/terminfo/t', '/lib/terminfo/t', '/etc/terminfo/t', '/usr/share/terminfo/74']
  return places.some((place) => existsSync(`${place}/tmux-256color`)) ? 'tmux-256color' : 'screen-256color'
}
