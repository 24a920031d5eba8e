import { createHash } from 'node:crypto'
import { realPath } from '../disk/index.js'
import type { FoundSession, HistoryStore, LogSource } from '../ingest/index.js'
import { isSessionId } from '../model/index.js'
import type { ProfileStore } from '../store/index.js'
import { LOG_TOOLS, type LogRef, type ReadOptions } from '../tools/index.js'

export type DirectoryOf = NonNullable<ReadOptions['directoryOf']>

/** Whether the place of one of these logs names its directory only by a hash. */
export const namesHash = (logs: readonly Pick<LogRef, 'tool' | 'path'>[]): boolean =>
  logs.some((log) => hashOf(log) !== undefined)

/** Finds a directory by the SHA-256 of its path, among those that agents and sessions work in. */
export async function knownDirectories(store: ProfileStore): Promise<DirectoryOf> {
  const agents = await store.ask((index) => index.agents())
  const places = await store.ask((index) => index.places())
  const sessions = [...places.values()].map(({ project }) => project)
  const known = new Set([...agents.map(({ project_path }) => project_path), ...sessions])
  const byHash = new Map<string, string>()
  for (const path of known) {
    if (!path?.startsWith('/')) continue
    // The program hashes the path with links resolved; the resolved form is the one that counts if both fit.
    for (const form of [path, realPath(path)]) byHash.set(sha256(form), form)
  }
  return (hash) => byHash.get(hash)
}

/** Logs that were read before their directory was known: those to read again, and the sessions of those that are gone. */
export function placedNow(
  history: HistoryStore,
  directoryOf: DirectoryOf,
): { again: LogSource[]; gone: FoundSession[] } {
  const again: LogSource[] = []
  const gone: FoundSession[] = []
  for (const { path, part, tool, session } of unplacedLogs(history)) {
    const cwd = directoryOf(hashOf({ tool, path }) ?? '')
    if (cwd === undefined) continue
    const log = toolNamed(tool)?.logAt(path, isSessionId(part) ? part : undefined)
    if (log) again.push({ log, isAgain: true })
    else if (session)
      gone.push(...history.foundAgain([session]).map((found) => ({ ...found, news: { ...found.news, cwd } })))
  }
  return { again, gone }
}

/** Logs whose place names their directory only by a hash, and that were read without finding it. */
export const unplacedLogs = (history: HistoryStore): ReturnType<HistoryStore['withoutDirectory']> =>
  history
    .withoutDirectory(LOG_TOOLS.filter((tool) => tool.projectHash).map(({ name }) => name))
    .filter((log) => hashOf(log) !== undefined)

const hashOf = ({ tool, path }: Pick<LogRef, 'tool' | 'path'>): string | undefined =>
  toolNamed(tool)?.projectHash?.(path)

const toolNamed = (name: string) => LOG_TOOLS.find((tool) => tool.name === name)

const sha256 = (path: string): string => createHash('sha256').update(path).digest('hex')
