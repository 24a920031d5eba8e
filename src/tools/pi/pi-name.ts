import { basename, join } from 'node:path'
import { type ForkOrigin, type Instant, isSessionId, type SessionId } from '../../model/index.js'
import { idFromName } from '../log/log-files.js'
import type { Environment } from '../log/log-tool.js'

/** `<time>_<id>.jsonl`; an id chosen by the user may hold anything an id may. */
export function sessionInName(path: string): SessionId {
  const id = /^\d{4}-\d\d-\d\dT[\d-]+Z_(.+)\.jsonl$/.exec(basename(path))?.[1]
  return isSessionId(id) ? id : idFromName(path)
}

/** A fork names its origin by path, also by one of another system. What that session is called must not depend on whether it is there. */
export function originOf(originPath: string | undefined): ForkOrigin | undefined {
  return originPath ? { session: sessionInName(originPath.replaceAll('\\', '/')) } : undefined
}

/** Where pi keeps the log of a session that begins in a directory. */
export function piLogPath(
  { env, home }: Environment,
  { session, cwd, at }: { session: SessionId; cwd: string; at: Instant },
): string {
  const root = env.PI_CODING_AGENT_DIR || join(home, '.pi', 'agent')
  const sessions = env.PI_CODING_AGENT_SESSION_DIR || join(root, 'sessions', folderOf(cwd))
  return join(sessions, `${at.replace(/[:.]/g, '-')}_${session}.jsonl`)
}

/** pi's name for the folder of a project. */
const folderOf = (cwd: string): string => `--${cwd.replace(/^[/\\]/, '').replace(/[/\\:]/g, '-')}--`
