import { join } from 'node:path'
import type { Instant, SessionId } from '../../model/index.js'
import type { Environment } from '../log/log-tool.js'

/** Where pi keeps the log of a session that began then. */
export function piLogPath({ home, env }: Environment, cwd: string, at: Instant, session: SessionId): string {
  const root = env.PI_CODING_AGENT_DIR || join(home, '.pi', 'agent')
  const sessions = env.PI_CODING_AGENT_SESSION_DIR || join(root, 'sessions', folderOf(cwd))
  return join(sessions, `${at.replace(/[:.]/g, '-')}_${session}.jsonl`)
}

/** pi's name for the folder of a project. */
const folderOf = (cwd: string): string => `--${cwd.replace(/^[/\\]/, '').replace(/[/\\:]/g, '-')}--`
