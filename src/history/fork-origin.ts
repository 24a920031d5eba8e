import type { FoundSession, HistoryStore } from '../ingest/index.js'
import { LOG_TOOLS, type SessionNews } from '../tools/index.js'

/** What is known of a session, with the one that it is a copy of. Logs come and go: what cannot be read now is not concluded from. */
export function withOrigin(history: HistoryStore, found: FoundSession): SessionNews {
  const tool = LOG_TOOLS.find((one) => one.name === found.tool)
  if (found.news.origin || !tool?.originAmong) return found.news
  const others = history.copiesOf(found).flatMap(({ path, session }) => tool.logAt(path, session) ?? [])
  const log = others.length > 0 ? tool.logAt(found.path, found.id) : undefined
  try {
    return log ? { ...found.news, origin: tool.originAmong(log, others) } : found.news
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    return found.news
  }
}
