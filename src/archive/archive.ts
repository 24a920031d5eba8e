import { closeSync, existsSync, fsync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { FileLock, syncPath, writeAtomic, writeFully } from '../disk/index.js'
import { type Context, type Instant, instantOf } from '../model/index.js'
import type { Fact } from '../tools/index.js'
import { type ArchiveKey, ArchiveReader, livesOn } from './archive-reader.js'
import { type ArchiveBatch, originOf, type Standing } from './archived-log.js'
import { factLines } from './fact-lines.js'
import { appendLive, createLive, liveHeader } from './live-file.js'
import { losesSomething } from './lost-facts.js'
import { sealedBytes, sealedHeader } from './sealed-file.js'

/** How long to wait for another process that writes, which takes as long as the disk does. */
const WAIT_MS = 30_000
/** Files that wait for the disk at the same time. */
const OPEN_FILES = 64
/** Nobody takes this long to write a file. */
const REMAINS_MS = 600_000

/**
 * What was said, kept when the tools have deleted their logs: two files per log at most, one that grows while the log does and one
 * that is sealed and compressed. Only filtered facts ever come here. Every change is made under one lock, is on the disk when it is
 * confirmed, and can be interrupted anywhere: a reader then finds what was there before, or after.
 */
export class Archive extends ArchiveReader implements Disposable {
  readonly #lock: FileLock

  constructor(
    directory: string,
    private readonly context: Pick<Context, 'clock' | 'random'>,
  ) {
    super(directory)
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    this.#lock = new FileLock(join(directory, 'lock'))
  }

  /** Returns those that were not taken, because another process has archived more of the same log meanwhile. */
  async write(batches: readonly ArchiveBatch[]): Promise<ArchiveBatch[]> {
    const isNew = (batch: ArchiveBatch): boolean =>
      batch.isWhole && batch.isOver && batch.from === undefined && !this.isThere(this.keyOf(originOf(batch.log)))
    const fresh = await this.#prepare(batches.filter(isNew))
    const touched = new Set<string>()
    return this.#lock.asWriter(() => {
      const overtaken: ArchiveBatch[] = []
      for (const batch of batches) {
        const key = this.keyOf(originOf(batch.log))
        const prepared = fresh.get(batch)
        if (prepared !== undefined && !this.isThere(key)) renameSync(prepared, this.sealedPath(key))
        else {
          if (prepared !== undefined) rmSync(prepared, { force: true })
          if (!this.#writeOne(key, batch)) overtaken.push(batch)
        }
        touched.add(dirname(this.sealedPath(key)))
      }
      for (const directory of touched) if (existsSync(directory)) syncPath(directory)
      return overtaken
    }, WAIT_MS)
  }

  /** Compresses what is over. Returns whether there was anything to do. */
  async seal(key: ArchiveKey): Promise<boolean> {
    return this.#lock.asWriter(() => {
      const live = this.livePath(key)
      if (!existsSync(live)) return false
      const content = this.read(key)
      // A damaged file is left for `verify` to tell of: sealing it would hide what was lost.
      if (!content || content.problems.length > 0) return false
      const header = liveHeader(live)
      if (header && livesOn(header.base, sealedHeader(this.sealedPath(key)))) this.#writeSealed(key, content)
      rmSync(live)
      syncPath(dirname(live))
      return true
    }, WAIT_MS)
  }

  /**
   * Changes what is kept of a log, in every version of it, as one step per file. `change` returns the fact, another one, or
   * undefined to leave it out. How far the log was read stays as it was, so it is not read again for this.
   */
  async rewrite(key: ArchiveKey, change: (fact: Fact) => Fact | undefined): Promise<{ changed: number }> {
    return this.#lock.asWriter(() => {
      let changed = 0
      const changeAll = (facts: readonly Fact[]): Fact[] | undefined => {
        const before = changed
        const kept = facts.flatMap((fact) => {
          const after = change(fact)
          if (after !== fact) changed += 1
          return after ?? []
        })
        return changed === before ? undefined : kept
      }
      for (const number of this.versionNumbers(key)) {
        const content = this.read(key, number)
        const facts = content && changeAll(content.facts)
        if (content && facts) this.#writeSealed(key, { ...content, facts }, number)
      }
      const content = this.read(key)
      const facts = content && changeAll(content.facts)
      if (content && facts) {
        this.#writeSealed(key, { ...content, facts })
        rmSync(this.livePath(key), { force: true })
        syncPath(dirname(this.livePath(key)))
      }
      return { changed }
    }, WAIT_MS)
  }

  /** Removes all that is kept of a log. */
  async remove(key: ArchiveKey): Promise<void> {
    await this.#lock.asWriter(() => {
      // The live file first: without the sealed one it would seem to lack its beginning.
      for (const path of [this.livePath(key), this.sealedPath(key)]) rmSync(path, { force: true })
      for (const number of this.versionNumbers(key)) rmSync(this.versionPath(key, number), { force: true })
      if (existsSync(dirname(this.livePath(key)))) syncPath(dirname(this.livePath(key)))
    }, WAIT_MS)
  }

  /** Removes what processes left that were killed while they wrote. It counts for nothing, but it holds words. */
  removeRemains(): void {
    const before = this.context.clock.now() - REMAINS_MS
    for (const { tool } of new Map(this.keys().map((key) => [key.tool, key])).values()) {
      const directory = join(this.directory, tool)
      for (const name of readdirSync(directory).filter((file) => /\.tmp-\d+$/.test(file))) {
        const path = join(directory, name)
        const stat = statSync(path, { throwIfNoEntry: false })
        if (stat && stat.mtimeMs < before) rmSync(path, { force: true })
      }
    }
  }

  [Symbol.dispose](): void {
    this.#lock[Symbol.dispose]()
  }

  /** Files for logs that are new here and over, on the disk under another name. All at once: each has to wait for the disk. */
  async #prepare(batches: readonly ArchiveBatch[]): Promise<Map<ArchiveBatch, string>> {
    const prepared = new Map<ArchiveBatch, string>()
    const waiting: Promise<void>[] = []
    for (const batch of batches) {
      const key = this.keyOf(originOf(batch.log))
      const path = `${this.sealedPath(key)}.tmp-${process.pid}`
      this.#makeRoom(key)
      const file = openSync(path, 'w', 0o600)
      const bytes = sealedBytes(
        { ...originOf(batch.log), ...batch.standing, id: this.#newId(), sealed_at: this.#now() },
        batch.facts,
      )
      writeFully(file, bytes)
      waiting.push(onTheDisk(file))
      prepared.set(batch, path)
      if (waiting.length >= OPEN_FILES) await Promise.all(waiting.splice(0))
    }
    await Promise.all(waiting)
    return prepared
  }

  #writeOne(key: ArchiveKey, batch: ArchiveBatch): boolean {
    const before = this.standing(key)
    if (before?.place !== batch.from) return false
    this.#makeRoom(key)
    if (batch.isWhole) this.#replace(key, batch)
    else this.#append(key, batch, before)
    return true
  }

  #append(key: ArchiveKey, batch: ArchiveBatch, before: Standing | undefined): void {
    const bytes = Buffer.byteLength(factLines(batch.facts))
    const standing: Standing = {
      ...kept(before),
      ...kept(batch.standing),
      place: batch.standing.place,
      facts: (before?.facts ?? 0) + batch.facts.length,
      bytes: (before?.bytes ?? 0) + bytes,
    } as Standing
    const sealed = sealedHeader(this.sealedPath(key))
    const live = liveHeader(this.livePath(key))
    if (live && livesOn(live.base, sealed)) {
      appendLive(this.livePath(key), batch.facts, standing)
      return
    }
    const base = sealed ? { base: { id: sealed.id, how: 'continues' as const } } : {}
    createLive(this.livePath(key), { ...originOf(batch.log), id: this.#newId(), ...base }, batch.facts, standing)
  }

  #replace(key: ArchiveKey, batch: ArchiveBatch): void {
    const before = this.isThere(key) ? this.read(key) : undefined
    if (before && losesSomething(before.facts, batch.facts)) this.#keepVersion(key, before)
    const bytes = Buffer.byteLength(factLines(batch.facts))
    const standing: Standing = { ...batch.standing, facts: batch.facts.length, bytes }
    const origin = originOf(batch.log)
    if (batch.isOver) {
      this.#writeSealed(key, { origin, standing, facts: [...batch.facts] })
      rmSync(this.livePath(key), { force: true })
      return
    }
    const sealed = sealedHeader(this.sealedPath(key))
    const base = sealed ? { base: { id: sealed.id, how: 'replaces' as const } } : {}
    createLive(this.livePath(key), { ...origin, id: this.#newId(), ...base }, batch.facts, standing)
    rmSync(this.sealedPath(key), { force: true })
  }

  /** Unless the newest version is the same already: a process may have been killed between this and what follows. */
  #keepVersion(key: ArchiveKey, content: Told): void {
    const newest = this.versionNumbers(key).at(-1) ?? 0
    const known = newest > 0 ? sealedHeader(this.versionPath(key, newest)) : undefined
    if (known && known.stamp === content.standing.stamp && known.place === content.standing.place) return
    this.#writeSealed(key, content, newest + 1)
  }

  #writeSealed(key: ArchiveKey, { origin, standing, facts }: Told, version?: number): void {
    const path = version === undefined ? this.sealedPath(key) : this.versionPath(key, version)
    const { tool, path: log, root, part } = origin
    const known = version === undefined ? undefined : sealedHeader(path)?.superseded_at
    const superseded_at = version === undefined ? {} : { superseded_at: known ?? this.#now() }
    const header = { tool, path: log, root, part, ...kept(standing), ...superseded_at }
    const whole = { ...header, place: standing.place, id: this.#newId(), sealed_at: this.#now() } as Parameters<
      typeof sealedBytes
    >[0]
    writeAtomic(path, sealedBytes(whole, facts), { durable: true })
  }

  #makeRoom({ tool }: ArchiveKey): void {
    mkdirSync(join(this.directory, tool), { recursive: true, mode: 0o700 })
  }

  #newId(): string {
    return Buffer.from(this.context.random.bytes(8)).toString('hex')
  }

  #now(): Instant {
    return instantOf(this.context.clock.now())
  }
}

type Told = { origin: ReturnType<typeof originOf>; standing: Standing; facts: Fact[] }

/** What of a standing is worth carrying on: later readings of a log do not say again what they said once. */
function kept(standing: Partial<Standing> | undefined): Partial<Standing> {
  const names = [
    ...(['place', 'stamp', 'size', 'modified_at', 'session', 'agent', 'cwd', 'last_at'] as const),
    ...(['counters', 'head', 'facts', 'bytes'] as const),
  ]
  return Object.fromEntries(names.flatMap((name) => (standing?.[name] === undefined ? [] : [[name, standing[name]]])))
}

function onTheDisk(file: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fsync(file, (error) => {
      closeSync(file)
      if (error) reject(error)
      else resolve()
    })
  })
}
