import { FactForgetter } from '../../archive/index.js'
import { parseSessionId } from '../../model/index.js'
import type { Forgetter } from '../../privacy/index.js'
import {
  LOG_TOOLS,
  type LogTool,
  type Resume,
  type UsageReader,
  type UsageReading,
  type UsageRecord,
  type UsageResume,
  type UsageSource,
} from '../../tools/index.js'
import { usageRecordOf } from './usage-record.js'

/** For each tool its own usage reader, or else one that reads its logs whole. `forgetter` keeps what was purged out of what they remember. */
export function usageReaders(forgetter?: Forgetter): Readonly<Record<string, UsageReader>> {
  return Object.fromEntries(
    LOG_TOOLS.map((tool) => [tool.name, tool.usageReader?.() ?? new ToolUsage(tool, forgetter)]),
  )
}

/** Reads a log as its tool does, and keeps the usage. */
export class ToolUsage implements UsageReader {
  readonly #forget: FactForgetter

  constructor(
    private readonly tool: LogTool,
    forgetter?: Forgetter,
  ) {
    this.#forget = new FactForgetter(forgetter)
  }

  read({ path, session }: UsageSource, tell: (telling: UsageRecord) => void, resume?: UsageResume): UsageReading {
    const reading: UsageReading = {
      carry: undefined,
      resumed: false,
      bytes: 0,
      damaged_lines: 0,
      oversized_lines: 0,
      unread_counts: 0,
    }
    const log = this.tool.logAt(path, session === undefined ? undefined : parseSessionId(session))
    if (!log) return reading // gone since it was found
    let from = resume?.carry === undefined ? undefined : (JSON.parse(resume.carry) as Resume)
    for (const fact of this.tool.read(log, from ? { from } : {})) {
      if (fact.kind === 'usage') tell(usageRecordOf(this.tool.name, fact))
      else if (fact.kind === 'restart') from = undefined
      else if (fact.kind === 'checkpoint') {
        reading.bytes = fact.resume.offset - (from?.offset ?? 0)
        reading.damaged_lines = fact.counters.bad_lines // of the whole log: the tool remembers
        reading.oversized_lines = fact.counters.dropped_lines
        reading.unread_counts = fact.counters.unread_counts ?? 0
        if (resume) reading.carry = JSON.stringify(this.#forget.place(fact.resume))
      }
    }
    return reading
  }
}
