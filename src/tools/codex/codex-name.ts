import { basename } from 'node:path'
import { isSessionId, type SessionId } from '../../model/index.js'
import { idFromName, isUuid } from '../log/log-files.js'

export const ROLLOUT = /^rollout-.+\.jsonl$/

/** `rollout-<local time>-<thread id>.jsonl`: the id is the last 36 characters. */
export function sessionInName(path: string): SessionId {
  const id = basename(path, '.jsonl').slice(-36)
  return isUuid(id) && isSessionId(id) ? id : idFromName(path)
}
