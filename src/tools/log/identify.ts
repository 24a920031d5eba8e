import type { SessionNews } from './fact.js'
import type { LogRef, LogTool } from './log-tool.js'

const HEAD_BYTES = 512 * 1024

/** Who a log belongs to, from its beginning: as much as is needed for the fields that come first. */
export function identifyByHead(tool: Pick<LogTool, 'read'>, log: LogRef): SessionNews {
  const news: SessionNews = {}
  for (const fact of tool.read(log, { limitBytes: HEAD_BYTES })) {
    if (fact.kind !== 'session') continue
    const { kind: _, ...fields } = fact
    Object.assign(news, fields)
  }
  return news
}
