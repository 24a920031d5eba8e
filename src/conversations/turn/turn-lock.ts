import { join } from 'node:path'
import { explainDiskError, makeDirectory } from '../../disk/index.js'
import { parseSessionId, SkeinError } from '../../model/index.js'
import type { ConversationKey } from '../key.js'
import { describeHolder, LockFile } from '../rows/lock-file.js'

/** One turn at a time: two turns that resume one session write two branches, and the later reply forgets the earlier. */
export async function lockTurn(directory: string, sessionId: string, key: ConversationKey): Promise<LockFile> {
  const path = join(directory, `${parseSessionId(sessionId)}.turn.lock`)
  try {
    makeDirectory(directory)
  } catch (error) {
    throw explainDiskError(error, directory)
  }
  const taken = await LockFile.take(path)
  if (taken instanceof LockFile) return taken
  throw new SkeinError(
    'conversation-busy',
    `A turn of ${key} is running in ${describeHolder(taken)}`,
    taken.life === 'unknown' ? `If nothing runs any more, delete ${path}` : 'Wait for its reply, then try again',
  )
}
