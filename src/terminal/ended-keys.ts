import { commandLine, sequence } from './command-line.js'

/** The pane option with the script that goes on with an ended program (`writeAgainScript`). */
export const AGAIN = '@skein_again'
const TABLE = 'skein-ended'
/** Set with the keys: a server that an older version started, or that is not ours, does not have them. */
const HAS_KEYS = '@skein_keys'
/** Beside the hook that tells of a death: see `event-hooks.ts`. */
const HOOK_INDEX = 7_537

const ENDED_WORDS = 'skein: the program has ended'
/** An agent is named by the beginning of its id, which a rename leaves as it is. */
const BY_COMMAND = 'To go on: skein restart #{=8:@skein_agent}'
const BY_KEY = 'Enter restarts it · q closes it'

/** What a pane shows below the last words of its program. */
export const ENDED = `${ENDED_WORDS} (#{?pane_dead_signal,signal #{pane_dead_signal},exit #{pane_dead_status}}). #{?#{&&:#{${AGAIN}},#{${HAS_KEYS}}},${BY_KEY},${BY_COMMAND}}`

/** Whether a line of a screen was written by tmux below a program that has ended. */
export const isEndedNote = (line: string): boolean => line.startsWith(ENDED_WORDS) || line.startsWith('Pane is dead')

/**
 * Keys in the pane of a program that has ended. They are in a table of their own, which a session gets when its program dies and loses
 * when it is started again: no key of a living program passes through a binding. A living pane beside the dead one gets its keys.
 *
 * `detach-client -E` runs the restart in the place of the client: in the terminal and with the environment of the person who pressed
 * the key, as if it had been typed there.
 */
export const endedKeys = (): string[] => {
  const press = (key: string, commands: string): string =>
    commandLine('bind-key', '-T', TABLE, key, 'if-shell', '-F', '#{pane_dead}', commands, sendKey(key))
  // Quoted so that every shell a user may have reads it alike. The script goes with its agent.
  const script = `#{${AGAIN}}`
  const inPlace = `exec sh -c "test -r ${script} || { echo skein: this agent was removed; exit 1; }; exec sh ${script} restart"`
  const restart = commandLine('run-shell', '-C', `detach-client -E '${inPlace}'`)
  // The end is recorded first: with the pane goes the exit status.
  const close = sequence(commandLine('run-shell', `sh ${script} look 2>/dev/null || true`), commandLine('kill-pane'))
  return [
    commandLine(
      ...['set-hook', '-g', `pane-died[${HOOK_INDEX}]`],
      commandLine('if-shell', '-F', `#{${AGAIN}}`, commandLine('set-option', 'key-table', TABLE)),
    ),
    commandLine('set-option', '-gq', HAS_KEYS, '1'),
    press('Enter', restart),
    press('q', close),
    // What the usual table has for reading and leaving.
    commandLine('bind-key', '-T', TABLE, 'C-q', 'detach-client'),
    commandLine('bind-key', '-T', TABLE, 'WheelUpPane', 'copy-mode', '-e'),
    commandLine('bind-key', '-T', TABLE, 'PPage', 'copy-mode', '-eu'),
    commandLine('bind-key', '-T', TABLE, 'MouseDown1Pane', 'select-pane', '-t='),
  ]
}

/** For a pane whose program begins. Without a script its end names the command alone. */
export const withoutEndedKeys = (pane: string, again: string | undefined): string[] => [
  commandLine('set-option', '-u', '-t', pane, 'key-table'),
  commandLine('set-option', '-u', '-t', pane, 'destroy-unattached'), // see `closeUnseen`
  ...(again === undefined
    ? [commandLine('set-option', '-pu', '-t', pane, '--', AGAIN)]
    : [commandLine('set-option', '-p', '-t', pane, '--', AGAIN, again)]),
  // `-q`: tmux before 3.3 has no such option, and shows its own words.
  commandLine('set-option', '-pq', '-t', pane, 'remain-on-exit-format', ENDED),
]

const sendKey = (key: string): string => commandLine('send-keys', key)
