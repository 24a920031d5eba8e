import type { SessionNews } from './fact.js'
import type { LogRef, LogTool } from './log-tool.js'

const HEAD_BYTES = 512 * 1024

/** Who a log belongs to, by its beginning: as much as it takes to be sure of the fields that are told first. */
export function identifyByHead(tool: Pick<LogTool, 'read'>, log: LogRef): SessionNews {
  const news: SessionNews = {}
  for (const fact of tool.read(log, { limitBytes: HEAD_BYTES })) {
    if (fact.kind !== 'session') continue
    const { kind: _, ...fields } = fact
    Object.assign(news, fields)
  }
  return news
}
