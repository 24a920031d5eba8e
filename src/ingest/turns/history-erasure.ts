import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Erasable, filesIn, forgetInDatabase, type LogPart, type Sweep } from '../../erasure/index.js'
import { isSessionId } from '../../model/index.js'
import { isProgramName } from '../program-name.js'
import { HistoryStore } from './history-store.js'

/** Counts and places that the logs told, in `history.db`. Paths of logs stay: records are found by them. */
export class HistoryErasure implements Erasable {
  readonly name = 'history'

  constructor(private readonly path: string) {}

  /** With copies that were put aside because they could not be used. */
  owns(path: string): boolean {
    return path.startsWith(this.path)
  }

  async erase(sweep: Sweep): Promise<void> {
    if (existsSync(this.path)) eraseRows(this.path, sweep)
    const isAside = (path: string): boolean =>
      this.owns(path) && !/^(?:-wal|-shm|-journal)?$/.test(path.slice(this.path.length))
    for (const path of filesIn(dirname(this.path)).filter(isAside)) sweep.file(path, isProgramName)
  }

  logs(session?: string): LogPart[] {
    if (!existsSync(this.path)) return []
    using store = HistoryStore.open(this.path)
    if (session === undefined) return store.places()
    return isSessionId(session) ? store.logsOf(session).map(({ path, part }) => ({ path, part })) : []
  }
}

function eraseRows(path: string, sweep: Sweep): void {
  using store = HistoryStore.open(path)
  const { database } = store.ledger
  const { dryRun, forgetter, generation } = sweep
  if (dryRun) {
    for (const session of sweep.sessions) sweep.found(path, isSessionId(session) ? store.logsOf(session).length : 0)
    sweep.found(path, forgetInDatabase(database, forgetter, { dryRun, isKey: isProgramName }))
    return
  }
  database.exec('pragma secure_delete = on')
  store.ledger.inTransaction(() => {
    store.admits(generation)
    sweep.found(path, forgetInDatabase(database, forgetter, { dryRun, isKey: isProgramName }))
  })
  for (const session of sweep.sessions) if (isSessionId(session)) sweep.found(path, store.drop(session))
  store.scrub()
}
