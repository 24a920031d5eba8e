// Over 400 lines: opening, mending, writing and checkpointing share one lock and one open index, and are read together.
import { existsSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { explainDiskError, FileLock, isDamage } from '../disk/index.js'
import {
  type Awaitable,
  type FoldedSession,
  isIndexError,
  isUnusableIndex,
  type LocalIndex,
  openLocalIndex,
  type SessionIndex,
} from '../index/index.js'
import { Journal } from '../journal/index.js'
import { type Context, DAY_MS, type EventId, instantOf, type SessionId, SkeinError } from '../model/index.js'
import { buildIndex, type IndexSources, newerRoster } from './index-build.js'
import {
  dropForeignLink,
  generationOf,
  newGeneration,
  pointTo,
  removeDatabase,
  setAsideGeneration,
} from './index-generation.js'
import type { ProfilePaths } from './paths.js'
import { RosterFile } from './roster-file.js'
import { ARCHIVE_AFTER_DAYS, SessionArchive } from './session-archive.js'
import { SessionRecords } from './session-records.js'
import { setAside } from './set-aside.js'
import { type Change, type Pending, WriteBatch } from './write-batch.js'

/** How long to wait for another writer, which holds the lock for milliseconds. */
const WRITER_WAIT_MS = 30_000
/** How long to wait for somebody who replaces the index, which may take a while on a large home. */
const REPLACE_WAIT_MS = 120_000
/** From this many sessions at once on, packing those that are long over is cheaper than a file for each. */
const MANY = 20
/** A roster that changes often is checkpointed this often; the journal holds the changes in between. */
const ROSTER_EVERY_MS = 1_000
/** Records left behind by a crash are caught up a few at a time, so that no command has to pay for all of them. */
const CATCH_UP_RECORDS = 1_000

/**
 * The one way in and out of a profile. A change is decided, appended, projected and checkpointed under the writer lock;
 * a question is answered by an index that has caught up with the journal. Whatever process dies at whatever point, the
 * next one finds a journal that is whole up to a line, and an index that can read on from where it stopped.
 */
export class ProfileStore implements AsyncDisposable {
  readonly journal: Journal
  readonly records: SessionRecords
  readonly archive: SessionArchive
  readonly rosterFile: RosterFile
  readonly #lock: FileLock
  #index: LocalIndex | undefined
  /** Of the index that is open, or that could not be opened. */
  #generation: string | undefined
  #opening: Promise<LocalIndex> | undefined
  #pending: Pending[] = []
  #draining: Promise<void> | undefined
  #rosterWrittenAt = Number.NEGATIVE_INFINITY
  #hasWritten = false
  readonly #toldNewer = new Set<SessionId>()

  constructor(
    readonly paths: ProfilePaths,
    readonly context: Context,
    readonly options: { readOnly: boolean },
  ) {
    this.journal = new Journal(paths.events)
    this.records = new SessionRecords(paths.sessions)
    this.archive = new SessionArchive(paths.archive)
    this.rosterFile = new RosterFile(paths.roster)
    this.#lock = new FileLock(paths.lock, options)
  }

  /** Answers from an index that has seen every event appended before this call. */
  async ask<T>(question: (index: SessionIndex) => Awaitable<T>): Promise<T> {
    return this.#explained(() => this.#mending(async () => question(await this.#current())))
  }

  /** Decides and records a change. Callers at the same time share one write to the disk. */
  async change<T>(change: Change<T>): Promise<T> {
    return this.#explained(
      () =>
        new Promise<T>((resolve, reject) => {
          const { actor } = this.context // of this caller: others may join the batch
          this.#pending.push({ change, actor, resolve: resolve as (value: unknown) => void, reject })
          this.#draining ??= this.#drain().finally(() => {
            this.#draining = undefined
          })
        }),
    )
  }

  /** Runs `body` as the only writer, with an index that has caught up. */
  async asWriter<T>(body: (index: LocalIndex) => T): Promise<T> {
    return this.#explained(() =>
      this.#mending(() =>
        this.#writing((index) => {
          this.#catchUp(index)
          return body(index)
        }),
      ),
    )
  }

  /** Rebuilds the index from journal and checkpoints and replaces the old one. */
  async rebuild(): Promise<void> {
    await this.#explained(async () => {
      const before = this.#releaseIndex()
      try {
        await this.#lock.asOnlyUser(() => this.#replaceIndex('replaced', before), 2_000)
      } catch (error) {
        before?.[Symbol.dispose]()
        if (!isBusy(error)) throw error
        await this.#mending(() => this.#rebuildInPlace())
      }
    })
  }

  /**
   * Changes what the index is derived from, and derives it again, in one hold of the lock: nobody writes a record from rows that say
   * what is no longer so. What the old index alone knew is lost with it.
   */
  async rewriteSources(change: () => void): Promise<void> {
    await this.#explained(() =>
      this.#mending(async () => {
        const fresh = newGeneration(this.paths.index, this.context.random.uuid())
        await this.#writing((index) => {
          this.#catchUp(index)
          this.checkpointRoster(index)
          change()
          try {
            buildIndex(fresh, this.#sources(undefined))[Symbol.dispose]()
            index.replaceWith(fresh)
            this.checkpointRoster(index)
            index.scrub()
          } finally {
            removeDatabase(fresh)
          }
        })
      }),
    )
  }

  /** What a rebuild would make of the living index, for comparison. The caller closes it. */
  buildAside(index: LocalIndex): LocalIndex {
    return buildIndex(undefined, this.#sources(index))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.#draining
      if (this.#hasWritten && this.#index) await this.asWriter((index) => this.checkpointRoster(index))
    } finally {
      this.#closeIndex()
      this.journal[Symbol.dispose]()
      this.#lock[Symbol.dispose]()
    }
  }

  /** Whether this process has changed anything. */
  get hasWritten(): boolean {
    return this.#hasWritten
  }

  // --- reading ----------------------------------------------------------------------------------------------------

  async #current(): Promise<LocalIndex> {
    const index = await this.#opened()
    if (this.options.readOnly || this.journal.isAtEnd(index.cursor().position)) return index
    // Somebody appended and has not projected yet, or never will: whoever holds the lock next reads on.
    return this.#writing((current) => {
      this.#catchUp(current)
      return current
    })
  }

  #catchUp(index: LocalIndex): void {
    const from = index.cursor()
    if (this.journal.isAtEnd(from.position)) return
    index.transaction(() => {
      let { position, id } = from
      for (const batch of this.journal.read({ position: from.position, ...(from.id ? { after: from.id } : {}) })) {
        this.saveRecords(index, index.fold(batch.events))
        position = batch.position
        id = batch.events.at(-1)?.id ?? id
      }
      // All before the active segment is read; it may hold no whole line yet.
      const active = this.journal.segments().at(-1) ?? 0
      index.setCursor({ position: position.segment < active ? { segment: active, offset: 0 } : position, id })
    })
  }

  /** Writes the records of sessions that changed. Needs the writer lock. Returns how many. */
  saveRecords(index: LocalIndex, changed: readonly FoldedSession[]): number {
    // A session that was over long ago when it was first heard of (found in an old log) goes to the archive at once.
    const before = instantOf(this.context.clock.now() - ARCHIVE_AFTER_DAYS * DAY_MS)
    const isOld = ({ session }: FoldedSession): boolean =>
      (session.ended_at ?? before) < before && !this.records.exists(session.id)
    const old = changed.length >= MANY ? changed.filter(isOld) : []
    if (old.length > 0) this.archive.add(old)
    const packed = new Set(old)
    for (const folded of changed) {
      // Unsaved for as long as a newer Skein's record is there: its events must stay until that Skein has read them.
      if (packed.has(folded) || this.records.save(folded)) index.markSaved(folded)
      else this.#keptNewer(folded.session.id)
    }
    return changed.length
  }

  #keptNewer(id: SessionId): void {
    if (this.#toldNewer.has(id)) return
    this.#toldNewer.add(id)
    const rest = 'it is unchanged, and the change is in the journal. Update Skein'
    this.context.warn(`The record of session ${id} was written by a newer Skein; ${rest}`)
  }

  // --- writing ----------------------------------------------------------------------------------------------------

  /** Runs `body` as the only writer, on the index that is current then: another process may replace it during the wait. */
  async #writing<T>(body: (index: LocalIndex) => T): Promise<T> {
    for (;;) {
      const index = await this.#opened()
      const done = await this.#lock.asWriter(
        () => (index === this.#index && !this.#isReplaced() ? { result: body(index) } : undefined),
        WRITER_WAIT_MS,
      )
      if (done) return done.result
    }
  }

  async #drain(): Promise<void> {
    await Promise.resolve() // lets callers of the same moment join
    while (this.#pending.length > 0) {
      const batch = new WriteBatch(this.#pending.splice(0), this.context)
      try {
        await this.#mending(() => this.#writing((index) => this.#commit(index, batch)))
        batch.settle()
      } catch (error) {
        batch.fail(explainDiskError(error, this.paths.directory))
      }
    }
  }

  #commit(index: LocalIndex, batch: WriteBatch): void {
    this.#catchUp(index)
    try {
      index.transaction(() => {
        const projection = index.projection()
        batch.decide(projection, index)
        if (batch.events.length === 0) return
        const position = this.journal.append(batch.events, {
          durable: batch.isDurable,
          nowMs: this.context.clock.now(),
        })
        batch.isSaved = true
        this.#hasWritten = true
        this.saveRecords(index, index.writeProjection(projection))
        index.setCursor({ position, id: batch.lastId })
      })
    } catch (error) {
      if (!batch.isSaved) throw error
      // It is in the journal, which is what "saved" means; the next process that can will project it.
      this.context.warn(
        `Saved, but the index is behind: ${(explainDiskError(error, this.paths.index) as Error).message}`,
      )
      if (isDamage(error)) this.#closeIndex()
    }
    if (batch.touchesRoster && performance.now() - this.#rosterWrittenAt >= ROSTER_EVERY_MS) {
      this.checkpointRoster(index)
    }
  }

  /** Brings the roster file up to date. Needs the writer lock. */
  checkpointRoster(index: LocalIndex): void {
    this.saveRecords(index, index.unsaved(CATCH_UP_RECORDS))
    const through = index.rosterThrough()
    if (through === undefined || index.note('roster_through') === through) return
    this.#examineRosterFile(index)
    this.#writeRosterFile(index, through)
  }

  /** A file that already says it is left alone: writing it again would push an older backup out for nothing. */
  #writeRosterFile(index: LocalIndex, through: EventId): void {
    const checkpoint = { agents: index.agents(), groups: index.groups(), through }
    const found = this.rosterFile.read()
    if (found !== 'newer' && (found?.through !== through || isEdited(found, index)))
      this.rosterFile.write(checkpoint, this.context.clock.now())
    this.#noteRosterFile(index, through)
  }

  #noteRosterFile(index: LocalIndex, through: string): void {
    index.transaction(() => {
      index.setNote('roster_file', this.rosterFile.signature() ?? '')
      index.setNote('roster_through', through)
    })
    this.#rosterWrittenAt = performance.now()
  }

  // --- the files underneath ---------------------------------------------------------------------------------------

  async #opened(): Promise<LocalIndex> {
    if (this.#index && this.#isReplaced()) {
      const replaced = this.#releaseIndex()
      setImmediate(() => replaced?.[Symbol.dispose]()) // a question of this moment may be about to use it
    }
    if (this.#index) return this.#index
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  /** Another process found it damaged and built a new one. Changes after that are in the new one alone. */
  #isReplaced(): boolean {
    return !this.options.readOnly && generationOf(this.paths.index) !== this.#generation
  }

  async #open(): Promise<LocalIndex> {
    await this.#lock.holdShared(REPLACE_WAIT_MS)
    if (this.options.readOnly) {
      this.#index = this.#openReadOnly()
      return this.#index
    }
    dropForeignLink(this.paths.index)
    this.#generation = generationOf(this.paths.index)
    const index = (existsSync(this.paths.index) && this.#tryOpen()) || (await this.#opensAfterMending())
    this.#index = index
    if (this.#isRosterFileStrange(index)) {
      await this.#lock.asWriter(() => {
        if (!this.#isReplaced() && this.#isRosterFileStrange(index)) this.#restoreRosterFile(index)
      }, WRITER_WAIT_MS)
    }
    return index
  }

  async #opensAfterMending(): Promise<LocalIndex> {
    await this.#mend()
    this.#generation = generationOf(this.paths.index)
    const index = openLocalIndex(this.paths.index)
    if (index) return index
    const next = 'Another Skein of a different version may be running: stop it, then run skein index rebuild'
    throw new SkeinError('index-damaged', `${this.paths.index} cannot be used, even after a rebuild`, next)
  }

  /** Undefined when it is damaged, of another version, or unreadable to us: all the same to a file that can be made again. */
  #tryOpen(): LocalIndex | undefined {
    try {
      return openLocalIndex(this.paths.index)
    } catch (error) {
      if (isUnusableIndex(error)) return undefined
      throw error
    }
  }

  /** Nothing can be written, so an index that is behind cannot catch up: then one is made in memory. */
  #openReadOnly(): LocalIndex {
    try {
      const index = existsSync(this.paths.index) ? openLocalIndex(this.paths.index, { readOnly: true }) : undefined
      const log = statSync(`${this.paths.index}-wal`, { throwIfNoEntry: false })
      if (index && (log?.size ?? 0) === 0 && this.journal.isAtEnd(index.cursor().position)) return index
      index?.[Symbol.dispose]()
    } catch (error) {
      if (!isIndexError(error)) throw error
    }
    return buildIndex(undefined, this.#sources(undefined))
  }

  /** Runs something on the index; if the file turns out to be damaged, replaces it and runs it once more. */
  async #mending<T>(use: () => Promise<T>): Promise<T> {
    try {
      return await use()
    } catch (error) {
      if (!isDamage(error) || this.options.readOnly) throw error
      await this.#mend()
      return use()
    }
  }

  /**
   * Builds a new generation beside those who have the damaged one open, a daemon for days: they change over when they next use it.
   * Several processes notice at once; the first one to get the lock does the work for all.
   */
  async #mend(): Promise<void> {
    const damaged = this.#generation
    let before = this.#index
    this.#index = undefined
    try {
      await this.#lock.asWriter(() => {
        if (generationOf(this.paths.index) !== damaged && existsSync(this.paths.index)) return
        const old = before
        before = undefined // closed by whoever replaces it
        this.#replaceIndex('damaged', old)
      }, REPLACE_WAIT_MS)
    } finally {
      before?.[Symbol.dispose]()
    }
  }

  /** Needs the writer lock. `before` is the index that this process has open; it is closed. */
  #replaceIndex(reason: 'damaged' | 'replaced', before: LocalIndex | undefined): void {
    const old = before ?? (existsSync(this.paths.index) ? this.#tryOpen() : undefined)
    const fresh = newGeneration(this.paths.index, this.context.random.uuid())
    try {
      buildIndex(fresh, this.#sources(old))[Symbol.dispose]()
    } catch (error) {
      removeDatabase(fresh)
      throw error
    } finally {
      old?.[Symbol.dispose]()
    }
    if (existsSync(this.paths.index) && reason === 'damaged') {
      const kept = setAsideGeneration(this.paths.index, this.context.clock.now())
      this.context.warn(`index.db could not be used and was kept as ${kept}; a new one was built from the journal`)
    }
    pointTo(this.paths.index, fresh)
    const index = openLocalIndex(this.paths.index)
    if (!index) return
    this.checkpointRoster(index)
    index[Symbol.dispose]()
  }

  /** For when others keep the index open: the new rows go into the same file in one transaction. */
  async #rebuildInPlace(): Promise<void> {
    const fresh = newGeneration(this.paths.index, this.context.random.uuid())
    await this.#writing((index) => {
      try {
        removeDatabase(fresh)
        buildIndex(fresh, this.#sources(index))[Symbol.dispose]()
        index.replaceWith(fresh)
        this.checkpointRoster(index)
      } finally {
        removeDatabase(fresh)
      }
    })
  }

  #sources(old: LocalIndex | undefined): IndexSources {
    const { journal, records, archive, rosterFile, context } = this
    return { journal, records, archive, rosterFile, old, context, readOnly: this.options.readOnly }
  }

  /** Lets go of the files without closing them: whoever replaces them closes the index at the right moment. */
  #releaseIndex(): LocalIndex | undefined {
    const index = this.#index
    this.#index = undefined
    this.#lock.releaseShared()
    return index
  }

  #closeIndex(): void {
    this.#index?.[Symbol.dispose]()
    this.#index = undefined
    this.#lock.releaseShared()
  }

  // --- the roster file --------------------------------------------------------------------------------------------

  #isRosterFileStrange(index: LocalIndex): boolean {
    const noted = index.note('roster_file')
    return noted !== undefined && noted !== this.rosterFile.signature()
  }

  /** Another program wrote or damaged it. The index has the roster; the file is kept aside if it differs. */
  #restoreRosterFile(index: LocalIndex): void {
    this.#examineRosterFile(index)
    const through = index.rosterThrough()
    if (through !== undefined) this.#writeRosterFile(index, through)
  }

  #examineRosterFile(index: LocalIndex): void {
    if (!this.#isRosterFileStrange(index)) return
    if (!existsSync(this.paths.roster)) {
      this.context.warn('roster.json was missing and has been written again')
      return
    }
    const found = this.rosterFile.read()
    if (found === 'newer') {
      this.context.warn(newerRoster(basename(this.paths.roster)))
      return
    }
    // Written by a process that died before it could note so: older than the index, and whole.
    const isOurs =
      found?.through !== undefined && found.through <= (index.rosterThrough() ?? '') && !isEdited(found, index)
    if (isOurs) return
    const kept = setAside(this.paths.roster, 'damaged', this.context.clock.now())
    const why = found ? 'was changed by another program' : 'could not be parsed'
    this.context.warn(
      `roster.json ${why} and was kept as ${kept}; it has been written again with ${index.agents().length} agents`,
    )
  }

  async #explained<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw explainDiskError(error, this.paths.directory)
    }
  }
}

/** Says the same moment as the index, but not the same roster. */
function isEdited(found: { through: unknown; agents: unknown; groups: unknown }, index: LocalIndex): boolean {
  if (found.through !== index.rosterThrough()) return false
  return JSON.stringify([found.agents, found.groups]) !== JSON.stringify([index.agents(), index.groups()])
}

const isBusy = (error: unknown): boolean => (error as { code?: unknown } | undefined)?.code === 'home-busy'
