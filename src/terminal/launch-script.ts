import { closeSync, fchmodSync, openSync } from 'node:fs'
import { writeFully } from '../disk/index.js'
import { SkeinError } from '../model/index.js'
import { inShell } from './in-shell.js'

export interface LaunchScript {
  /** Where to write it: a directory that only the user can read, a name that nothing else has. */
  readonly path: string
  readonly argv: readonly [string, ...string[]]
  readonly env: Readonly<Record<string, string>>
  readonly cwd?: string
}

/**
 * Writes a file for `sh` that becomes the program: no argument, no prompt and no key of it is ever on the command line of tmux
 * or of a shell. The file removes itself before the program runs, since it holds what must not lie about; each start writes
 * its own. The process that tmux started is then the program itself.
 */
export function writeLaunchScript({ path, argv, env, cwd }: LaunchScript): void {
  const lines = [
    `rm -f -- ${inShell(path)}`,
    ...Object.entries(env).map(([name, value]) => `export ${variableName(name)}=${inShell(value)}`),
    ...(cwd === undefined ? [] : [`cd -- ${inShell(absolute(cwd))} || exit 126`]),
    `exec ${program(argv[0])} ${argv.slice(1).map(inShell).join(' ')}`.trimEnd(),
    '',
  ]
  // Never a file that is already there, nor what a link points to.
  const file = openSync(path, 'wx', 0o600)
  try {
    fchmodSync(file, 0o600)
    writeFully(file, Buffer.from(lines.join('\n')))
  } finally {
    closeSync(file)
  }
}

/** `exec` would take a leading dash for an option. */
function program(name: string): string {
  if (name === '' || name.startsWith('-')) throw badInput(`${JSON.stringify(name)} is not a program.`, 'Name a command')
  return inShell(name)
}

function absolute(path: string): string {
  if (path.startsWith('/')) return path
  throw badInput(`${path} is not an absolute path.`, 'Use an absolute path')
}

/** Names that would change how the script itself runs are refused as well. */
function variableName(name: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !/^(IFS|PPID|OPTIND|LINENO)$/.test(name)) return name
  throw badInput(`${JSON.stringify(name)} cannot name an environment variable.`, 'Use letters, digits and "_"')
}

const badInput = (message: string, next: string): SkeinError => new SkeinError('bad-input', message, next)
