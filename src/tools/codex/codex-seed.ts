import { join } from 'node:path'
import type { Instant, SessionId } from '../../model/index.js'

/**
 * The beginning of a log, for Codex to resume: the only way to choose a conversation's id. It holds no turn; Codex adds what it
 * needs with the first prompt.
 */
export function seededLog(
  root: string,
  session: SessionId,
  cwd: string,
  at: Instant,
): { path: string; content: string } {
  const meta = {
    timestamp: at,
    type: 'session_meta',
    payload: { id: session, timestamp: at, cwd, originator: 'codex-tui', cli_version: '0.0.0', source: 'cli' },
  }
  return { path: logPath(root, session, at), content: `${JSON.stringify(meta)}\n` }
}

/** `sessions/YYYY/MM/DD/rollout-<local time>-<id>.jsonl`, as Codex names its own. */
function logPath(root: string, session: SessionId, at: Instant): string {
  const time = new Date(at)
  const two = (part: number): string => String(part).padStart(2, '0')
  const [year, month, day] = [String(time.getFullYear()), two(time.getMonth() + 1), two(time.getDate())]
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join('-')
  return join(root, 'sessions', year, month, day, `rollout-${year}-${month}-${day}T${clock}-${session}.jsonl`)
}
