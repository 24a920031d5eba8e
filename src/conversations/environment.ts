import { randomBytes, randomUUID } from 'node:crypto'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Context } from '../model/index.js'

/**
 * The only file of this folder that looks at the environment. The functions of the original take no context, so their
 * defaults have to come from somewhere; everything else is handed its surroundings.
 */

/** What the store needs of the world: a clock and random ids. */
export type Surroundings = Pick<Context, 'clock' | 'random'>

export const systemSurroundings: Surroundings = {
  clock: { now: () => Date.now() },
  random: { bytes: (count) => randomBytes(count), uuid: () => randomUUID() },
}

/** `~/.clawcode`, or what `OPENCLAW_STATE_DIR` says. */
export function stateDirectory(): string {
  const named = process.env.OPENCLAW_STATE_DIR?.trim()
  return named ? expandHome(named) : join(homedir(), '.clawcode')
}

export const expandHome = (path: string): string =>
  path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path

/** The user's config.toml: in SKEIN_HOME when it is set, else where the XDG rules put settings. */
export function configFile(): string {
  const { SKEIN_HOME, XDG_CONFIG_HOME } = process.env
  if (SKEIN_HOME) return join(SKEIN_HOME, 'config.toml')
  return join(XDG_CONFIG_HOME || join(homedir(), '.config'), 'skein', 'config.toml')
}

export const workingDirectory = (): string => process.cwd()

const DEFAULT_TTL_MS = 45_000

/** How long a loaded store may be served from memory; 0 turns the cache off. Read each time, as the original does. */
export function cacheTtlMs(): number {
  for (const name of ['SKEIN_SESSION_CACHE_TTL_MS', 'OPENCLAW_SESSION_CACHE_TTL_MS']) {
    const text = process.env[name]?.trim()
    if (text && /^\d+$/.test(text)) return Number(text)
  }
  return DEFAULT_TTL_MS
}
