import { quoted, spoolCommand } from '../../journal/index.js'
import type { Environment } from '../log/log-tool.js'

/** Ends every command that Skein puts into a user's settings: by this it is known again. */
const MARK = '# skein-hooks'
export const isInstalledHook = (command: string): boolean => command.trimEnd().endsWith(MARK)

/** Whom messages of programs are from that no run of Skein has started. */
export const OUTSIDE = '-'

/** How an installed hook reaches Skein. */
export interface InstalledSkein {
  readonly node: string
  readonly program: string
  readonly spool: string
  /** Variables that name the home, where it is not the usual one. */
  readonly env: Readonly<Record<string, string>>
}

/** How Skein's hooks get into a user's own settings of a program. */
export type HookInstall =
  | {
      /** Entries in a JSON file. */
      readonly kind: 'settings'
      path(environment: Environment): string
      readonly events: readonly string[]
      entry(command: string): object
      /** What the user still has to do. */
      readonly next?: string
      /** The program ignores the whole file, without a word, if it has comments or a comma too many. */
      readonly isStrict?: true
    }
  | {
      /** A file of its own, which the program loads. */
      readonly kind: 'file'
      path(environment: Environment): string
      content(skein: InstalledSkein): string
    }

/** The event that is answered; the others only report. */
const ANSWERED = 'SessionStart'

/**
 * The line for `sh` of an installed hook. In a run of Skein it does nothing: that has hooks of its own. It always reads its input to the end,
 * prints an answer or nothing, and ends with 0.
 */
export function installedLine(event: string, tool: string, { node, program, spool, env }: InstalledSkein): string {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${quoted(value)} `)
  const ask = `${variables.join('')}${quoted(node)} ${quoted(program)} hook ${event} --tool ${tool} --pid "$PPID"`
  const does =
    event === ANSWERED
      ? `a=$(${ask} 2>/dev/null) && [ -n "$a" ] && printf '%s\\n' "$a"`
      : spoolCommand(spool, { agent: OUTSIDE, run: OUTSIDE, tool })
  return `if [ -z "$SKEIN_RUN" ]; then ${does}; fi; cat >/dev/null; : ${MARK}`
}

/** The first line of every file that Skein installs. */
export const INSTALLED_FILE = '// Installed by skein hooks install; removed by skein hooks uninstall.\n'

/** What asks Skein, for plugins: `env` where the home is not the usual one. */
export const installedWords = ({ node, program, env }: InstalledSkein, tool: string): readonly string[] => [
  ...(Object.keys(env).length > 0 ? ['env', ...Object.entries(env).map(([name, value]) => `${name}=${value}`)] : []),
  ...[node, program, 'hook', '--text', '--tool', tool],
]
