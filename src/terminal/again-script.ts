import { dirname } from 'node:path'
import { makeDirectory, readPlain, writeAtomic } from '../disk/index.js'
import { inShell } from './in-shell.js'

export interface AgainScript {
  readonly path: string
  /** Skein itself, as words of a command line. */
  readonly skein: readonly [string, ...string[]]
  readonly profile: string
  readonly agent: string
  /** Variables that say which home it is; undefined for those that must not be set. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/** tmux and two shells read the path: one that means something to any of them gets no keys. */
const PLAIN_PATH = /^\/[A-Za-z0-9/._@+=:-]*$/

/**
 * Writes the file that a key in the pane of an ended program runs (`ended-keys.ts`), unless it is there. It restarts this agent, and does nothing
 * else.
 * Returns its path, or undefined where the path cannot be used.
 */
export function writeAgainScript(script: AgainScript): string | undefined {
  const { path, skein, profile, agent, env } = script
  if (!PLAIN_PATH.test(path)) return undefined
  const words = (verb: string): string => [...skein, '--profile', profile, verb, agent].map(inShell).join(' ')
  const lines = [
    ...Object.entries(env).map(([name, value]) =>
      value === undefined ? `unset ${name}` : `export ${name}=${inShell(value)}`,
    ),
    'unset SKEIN_AGENT SKEIN_SESSION SKEIN_RUN',
    'case "$1" in',
    `restart) ${words('restart')} && exec ${words('attach')} ;;`,
    `look) exec ${words('why')} >/dev/null 2>&1 ;;`,
    'esac',
    '',
  ]
  const content = lines.join('\n')
  if (readPlain(path)?.toString() === content) return path
  makeDirectory(dirname(path))
  writeAtomic(path, content, { durable: false })
  return path
}
