import { closeSync, openSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type ForkOrigin, isSessionId, type SessionId } from '../../model/index.js'
import { noCounters } from '../counters.js'
import { LineReader } from '../line-reader.js'
import { canRead, idFromName, statOf } from '../log-files.js'
import { RecordReader } from '../record-reader.js'

/** `<time>_<id>.jsonl`; an id chosen by the user may hold anything an id may. */
export function sessionInName(path: string): SessionId {
  const id = /^\d{4}-\d\d-\d\dT[\d-]+Z_(.+)\.jsonl$/.exec(basename(path))?.[1]
  return isSessionId(id) ? id : idFromName(path)
}

/** A fork names its origin by path. The id is in that file's name, or else in its header, if it still is where it was or beside us. */
export function originOf(originPath: string | undefined, ownPath: string): ForkOrigin | undefined {
  if (!originPath) return undefined
  const named = /_([^/\\]+)\.jsonl$/.exec(originPath)?.[1]
  if (isSessionId(named)) return { session: named }
  for (const path of [originPath, join(dirname(ownPath), basename(originPath))]) {
    const session = path === ownPath ? undefined : headerId(path)
    if (session) return { session }
  }
  return undefined
}

function headerId(path: string): SessionId | undefined {
  if (!statOf(path)?.isFile() || !canRead(path)) return undefined
  const file = openSync(path, 'r')
  try {
    const id = new RecordReader(new LineReader(file, 0), noCounters()).next()?.id
    return isSessionId(id) ? id : undefined
  } finally {
    closeSync(file)
  }
}
