import { parseSessionId, type SessionId, SkeinError } from '../model/index.js'
import type { Config, Surroundings } from '../settings/index.js'
import { type ProfileStore, type StoredSessions, withMoments } from '../store/index.js'
import {
  type Environment,
  LOG_TOOLS,
  type LogRef,
  type LogTool,
  notingUnlisted,
  type UnlistedDirectory,
} from '../tools/index.js'
import type { IngestOptions } from './history-api.js'

export type WantedLogs = Pick<IngestOptions, 'tool' | 'session' | 'since' | 'roots'>

interface Parts {
  readonly store: ProfileStore
  readonly sessions: StoredSessions
  readonly config: Config
  readonly surroundings: Surroundings
}

/** Finds the native logs of the tools, all of them or those of one tool, session or time. */
export class LogFinder {
  constructor(private readonly parts: Parts) {}

  async find(
    only: WantedLogs,
    isWanted?: (log: LogRef) => boolean,
  ): Promise<{ logs: LogRef[]; unlisted: UnlistedDirectory[] }> {
    const environment = withRoots(await this.environment(), only.roots)
    const tools = only.tool === undefined ? LOG_TOOLS : [logToolNamed(only.tool)]
    const { found, unlisted } = notingUnlisted(() => tools.flatMap((one) => one.discover(environment)))
    return { logs: found.filter(isWanted ?? (await this.filterFor(only))), unlisted }
  }

  /** Whose log it is is asked last: the names of some do not tell it. */
  async filterFor({ tool, session, ...time }: WantedLogs): Promise<(log: LogRef) => boolean> {
    const { since } = withMoments(time, this.parts.store.context.clock.now())
    const wanted = session === undefined ? undefined : await this.idOf(session)
    return (log) =>
      (tool === undefined || log.tool === tool) &&
      (since === undefined || log.modified_at >= since) &&
      (wanted === undefined || ownerOf(log) === wanted)
  }

  async environment(): Promise<Environment> {
    const { config, surroundings } = this.parts
    const { home, env } = surroundings
    return { home, env, extraRoots: await config.logRoots(), described: await this.#described() }
  }

  /** Most users describe no log, and whoever only reads logs need not load what runs programs. */
  async #described(): Promise<string[]> {
    const { config } = this.parts
    if (!config.mayDescribeLogs()) return []
    const { describedLogs } = await import('./described-logs.js')
    return describedLogs(config)
  }

  /** A session that is not known yet may be asked for by its whole id. */
  async idOf(reference: string): Promise<SessionId> {
    try {
      return (await this.parts.sessions.find(reference)).id
    } catch (error) {
      if ((error as { code?: string }).code === 'session-not-found') return parseSessionId(reference)
      throw error
    }
  }
}

function withRoots(environment: Environment, roots: WantedLogs['roots'] = {}): Environment {
  const extraRoots: Record<string, readonly string[]> = { ...environment.extraRoots }
  for (const [tool, more] of Object.entries(roots)) extraRoots[tool] = [...(extraRoots[tool] ?? []), ...more]
  return { ...environment, extraRoots }
}

export function logToolNamed(name: string): LogTool {
  const tool = LOG_TOOLS.find((one) => one.name === name)
  if (tool) return tool
  throw new SkeinError(
    'bad-input',
    `"${name}" is not a tool whose logs Skein reads`,
    `Use one of ${LOG_TOOLS.map((one) => one.name).join(', ')}`,
  )
}

/** The session that a log is of, or whose sub-agent wrote it. Logs come and go: of one that cannot be read now nothing is known. */
function ownerOf(log: LogRef): SessionId | undefined {
  if (log.session) return log.session
  try {
    const news = logToolNamed(log.tool).identify(log)
    return news.spawner?.session ?? news.id
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    return undefined
  }
}
