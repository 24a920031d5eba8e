import { basename } from 'node:path'
import { type ForkOrigin, isSessionId, type SessionId } from '../../model/index.js'
import { idFromName } from '../log/log-files.js'

/** `<time>_<id>.jsonl`; an id chosen by the user may hold anything an id may. */
export function sessionInName(path: string): SessionId {
  const id = /^\d{4}-\d\d-\d\dT[\d-]+Z_(.+)\.jsonl$/.exec(basename(path))?.[1]
  return isSessionId(id) ? id : idFromName(path)
}

/** A fork names its origin by path, also by one of another system. What that session is called must not depend on whether it is there. */
export function originOf(originPath: string | undefined): ForkOrigin | undefined {
  return originPath ? { session: sessionInName(originPath.replaceAll('\\', '/')) } : undefined
}
