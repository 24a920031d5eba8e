import { existsSync } from 'node:fs'
import {
  ANSWER,
  filteredLogs,
  HistoryStore,
  PURGED_CALL_TEXT,
  rewriteLog,
  type StoredPassage,
  scrubText,
  TextStore,
} from '../ingest/index.js'
import { isSessionId } from '../model/index.js'
import { PURGED } from '../privacy/index.js'
import type { ProfilePaths } from '../store/index.js'
import { forgetInDatabase } from './database-text.js'
import type { Sweep } from './sweep.js'

/** What the logs told: counts and places in `history.db`, words in `text.db`. `generation`: what was read earlier is refused from now on. */
export function sweepHistory({ history, text }: ProfilePaths, sweep: Sweep, generation: number): void {
  if (existsSync(history)) sweepCounts(history, sweep, generation)
  if (existsSync(text)) sweepWords(text, sweep, generation)
}

function sweepCounts(path: string, sweep: Sweep, generation: number): void {
  using store = HistoryStore.open(path)
  const { database } = store.ledger
  if (sweep.dryRun) {
    for (const session of sweep.sessions) sweep.found(path, isSessionId(session) ? store.logsOf(session).length : 0)
    sweep.found(path, forgetInDatabase(database, sweep.forgetter, { dryRun: true }))
    return
  }
  database.exec('pragma secure_delete = on')
  store.ledger.inTransaction(() => {
    store.admits(generation)
    sweep.found(path, forgetInDatabase(database, sweep.forgetter, { dryRun: false }))
  })
  for (const session of sweep.sessions) if (isSessionId(session)) sweep.found(path, store.drop(session))
  store.scrub()
}

function sweepWords(path: string, sweep: Sweep, generation: number): void {
  using store = TextStore.open(path)
  const { forgetter, dryRun } = sweep
  let count = 0
  const change = ({ kind, text }: StoredPassage): string => {
    const isOnPath = kind === 'tools' && forgetter.namesPath(text)
    const forgotten = isOnPath ? { value: purgedCall(text), count: 1 } : forgetter.text(text)
    count += forgotten.count
    return forgotten.value
  }
  if (!dryRun) {
    store.db.database.exec('pragma secure_delete = on')
    store.db.inTransaction(() => store.admits(generation))
  }
  for (const log of filteredLogs(store)) {
    const { n, session } = log
    const isGone = session !== null && sweep.sessions.has(session)
    if (isGone) {
      count += 1
      if (!dryRun) store.forget(log)
    } else if (dryRun) rewriteLog(store, n, change, { dryRun })
    else store.db.inTransaction(() => rewriteLog(store, n, change))
  }
  if (dryRun) count += forgetInDatabase(store.db.database, forgetter, { dryRun })
  else {
    count += store.db.inTransaction(() => forgetInDatabase(store.db.database, forgetter, { dryRun }))
    scrubText(store)
  }
  sweep.found(path, count)
}

/** A call on a path goes with its arguments and its result; that there was one stays. */
function purgedCall(text: string): string {
  const call = `${text.split('\n', 1)[0]?.split(ANSWER, 1)[0] ?? ''}\n${PURGED_CALL_TEXT}`
  return text.includes(ANSWER) ? `${call}${ANSWER}${PURGED}` : call
}
