import { closeSync } from 'node:fs'
import { join } from 'node:path'
import { statOf } from '../../disk/index.js'
import { isSessionId, type SessionId } from '../../model/index.js'
import { numberAt, textAt } from '../json-value.js'
import { noCounters } from '../log/counters.js'
import { LineReader } from '../log/line-reader.js'
import type { Succession } from '../log/log-tool.js'
import { momentOfMs } from '../log/moment.js'
import { isReadableLog, openLog } from '../log/open-log.js'
import { RecordReader } from '../log/record-reader.js'

/** After this long a new session in the same directory is more likely somebody's new start. */
const LONGEST_PAUSE_MS = 12 * 3_600_000

/**
 * Which session took the place of which by `/clear`. No session log says so: the program only changes its id. But it notes what
 * is typed, with the id, in `history.jsonl`: the next id to appear in that directory after a `/clear` is the one that replaced it.
 * With several sessions in one directory at once that is a guess; a session that was itself seen before is never taken for new.
 */
export function clearsUnder(root: string): Succession[] {
  const path = join(root, 'history.jsonl')
  if (!statOf(path) || !isReadableLog(path)) return []
  const file = openLog(path)
  try {
    using lines = new LineReader(file, 0)
    const typed = new RecordReader(lines, noCounters())
    const seen = new Set<string>()
    const cleared = new Map<string, { session: SessionId; ms: number }>()
    const found: Succession[] = []
    for (let entry = typed.next(); entry; entry = typed.next()) {
      const session = entry.sessionId
      const project = textAt(entry, 'project')
      const ms = numberAt(entry, 'timestamp')
      if (!isSessionId(session) || !project || ms === undefined) continue
      const left = cleared.get(project)
      if (left && !seen.has(session) && session !== left.session) {
        cleared.delete(project)
        const at = momentOfMs(ms)
        if (ms - left.ms <= LONGEST_PAUSE_MS && at)
          found.push({ predecessor: left.session, successor: session, link: 'clear', at })
      }
      seen.add(session)
      if (/^\/(?:clear|new|reset)\b/.test(textAt(entry, 'display') ?? '')) cleared.set(project, { session, ms })
    }
    return found
  } finally {
    closeSync(file)
  }
}
