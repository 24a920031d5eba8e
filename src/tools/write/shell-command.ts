/** Programs of a shell around the command itself: `bash -lc <command>`. */
const SHELL = /^(?:\/\S*\/)?(?:ba|z|da)?sh$/
/** What agent programs call the argument that holds a command. */
const COMMAND_NAMES = ['command', 'cmd', 'input']
/** The tools by which they run a command from its beginning to its end. */
const SHELL_TOOLS: ReadonlySet<string> = new Set([
  'Bash',
  'bash',
  'shell',
  'shell_command',
  'local_shell',
  'container.exec',
  'exec_command',
  'run_shell_command',
])

/** The command in the arguments of a call, without the shell around it; '' when there is none. */
export function commandIn(args: Readonly<Record<string, unknown>>): string {
  for (const name of COMMAND_NAMES) {
    const value = args[name]
    if (typeof value === 'string') return value
    if (!Array.isArray(value)) continue
    const words = value.map(String)
    const isWrapped = SHELL.test(words[0] ?? '') && /^-\w*c$/.test(words[1] ?? '')
    return isWrapped ? (words[2] ?? '') : words.join(' ')
  }
  return ''
}

/** The shell command that a call ran, for the programs whose logs Skein reads. */
export const shellCommandOf = (name: string, args: Readonly<Record<string, unknown>>): string | undefined =>
  (SHELL_TOOLS.has(name) && commandIn(args)) || undefined
