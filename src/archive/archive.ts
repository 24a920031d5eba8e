import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { FileLock, makeDirectory, readPlain, syncPath, writeAtomic } from '../disk/index.js'
import { type Context, type Instant, instantOf } from '../model/index.js'
import type { Fact } from '../tools/index.js'
import { type ArchiveKey, ArchiveReader } from './archive-reader.js'
import { type ArchiveBatch, originOf, type ReadMark, type SealedBatch } from './archived-log.js'
import { factLines } from './fact-lines.js'
import { appendLive, createLive, liveHeader } from './live-file.js'
import { longLosesSomething, losesSomething } from './lost-facts.js'
import { livesOn, type OpenedLog } from './opened-log.js'
import type { Packed } from './pack.js'
import { parseSealed, sealedBytes } from './sealed-file.js'
import { SealedWriter } from './sealed-writer.js'
import type { SharedWords } from './word-blocks.js'

/** How long to wait for another process that writes, which takes as long as the disk does. */
const WAIT_MS = 30_000
/** From this many new logs at once on, one file for all is quicker than one for each. */
const WORTH_A_PACK = 8
/** A pack is written anew when one of its logs goes on. */
const PACK_BYTES = 4 * 1024 * 1024
/** Nobody takes this long to write a file. */
const REMAINS_MS = 600_000
const REMAINS = /\.tmp-\d+$/

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
    makeDirectory(join(directory, 'packs'))
    this.#lock = new FileLock(join(directory, 'lock'))
  }

  /** Compresses ahead what nothing will be added to. Takes longer than writing it, and needs no lock. */
  compressed(batch: ArchiveBatch, words?: SharedWords): ArchiveBatch | SealedBatch {
    const { log, standing, facts, ...rest } = batch
    const origin = originOf(log)
    if (!rest.isWhole || !rest.isOver || rest.from !== undefined) return batch
    const header = { ...origin, ...standing, id: this.#newId(), sealed_at: this.#now() }
    return { ...rest, log, standing, sealed: sealedBytes(header, facts, words) }
  }

  /**
   * Returns those that were not taken, because another process has archived more of the same log meanwhile. `isCurrent` is asked under
   * the lock: when it says no, none is taken.
   */
  async write<Batch extends ArchiveBatch | SealedBatch>(
    batches: readonly Batch[],
    isCurrent: () => boolean = () => true,
  ): Promise<Batch[]> {
    const ready = batches.map((batch) => ('facts' in batch ? this.compressed(batch) : batch))
    return this.#lock.asWriter(() => {
      if (!isCurrent()) return [...batches]
      this.packs.refresh()
      const together = new Map<string, Packed>()
      const overtaken = batches.filter((_, at) => {
        const batch = ready[at] as ArchiveBatch | SealedBatch
        const key = this.keyOf(originOf(batch.log))
        if ('facts' in batch) return !this.#writeOne(key, batch)
        if (together.has(key.name)) return true
        // What is there and tells nothing of itself is damaged: this takes its place.
        if (this.isThere(key)) return !this.#writeOne(key, unsealed(batch))
        together.set(key.name, { ...key, bytes: batch.sealed })
        return false
      })
      this.#writeTogether([...together.values()])
      return overtaken
    }, WAIT_MS)
  }

  /** Compresses a finished log. Returns false when there was nothing to compress or another process appended to it meanwhile. */
  async seal(key: ArchiveKey): Promise<boolean> {
    const live = this.livePath(key)
    if (!existsSync(live)) return false
    await this.settle(key)
    this.#makeRoom(key)
    using content = this.open(key)
    if (!content) return false
    using writer = new SealedWriter(this.sealedPath(key))
    // Takes longer than all that needs the lock.
    for (const facts of content.pieces()) writer.add(facts)
    // A damaged file is left for `verify` to tell of: sealing it would hide what was lost.
    if (content.problems.length > 0) return false
    return await this.#lock.asWriter(() => {
      const header = liveHeader(live)
      if (!header || !this.#isStill(key, content)) return false
      if (livesOn(header.base, this.sealedHeader(key))) writer.finish(this.#headerOf(content))
      rmSync(live)
      syncPath(dirname(live))
      return true
    }, WAIT_MS)
  }

  /** When all slices of a log that was read anew are there: what it said before goes, unless some of it is lacking now. */
  async settle(key: ArchiveKey): Promise<void> {
    const first = liveHeader(this.livePath(key))?.set_aside
    if (first === undefined) return
    for (const number of this.versionNumbers(key).filter((one) => one >= first)) {
      using before = this.open(key, number)
      using now = this.open(key)
      if (!before || !now || longLosesSomething(before.facts(), now.facts())) continue
      if (before.problems.length > 0 || now.problems.length > 0) continue
      await this.#lock.asWriter(() => {
        if (!this.#isStill(key, now)) return
        rmSync(this.versionPath(key, number), { force: true })
        syncPath(dirname(this.versionPath(key, number)))
      }, WAIT_MS)
    }
  }

  #isStill(key: ArchiveKey, content: OpenedLog): boolean {
    using now = this.open(key)
    return now?.mark === content.mark
  }

  /**
   * Changes what is kept of a log, in every version of it, as one step per file. `change` returns the fact, another one, or
   * undefined to leave it out. How far the log was read stays as it was, so it is not read again for this. `note` says what else is
   * different now.
   */
  async rewrite(
    key: ArchiveKey,
    change: (fact: Fact) => Fact | undefined,
    note: (standing: ReadMark) => ReadMark = (standing) => standing,
  ): Promise<{ changed: number }> {
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
        const standing = content && note(content.standing)
        if (content && standing && (facts || standing !== content.standing))
          this.#writeSealed(key, { ...content, standing, facts: facts ?? content.facts }, number)
      }
      const content = this.read(key)
      const facts = content && changeAll(content.facts)
      const standing = content && note(content.standing)
      if (content && standing && (facts || standing !== content.standing)) {
        this.#writeSealed(key, { ...content, standing, facts: facts ?? content.facts })
        rmSync(this.livePath(key), { force: true })
        syncPath(dirname(this.livePath(key)))
        this.#unpack(key)
      }
      return { changed }
    }, WAIT_MS)
  }

  /** A log that still grows, as it lies there; undefined when there is none. */
  liveBytes(key: ArchiveKey): Buffer | undefined {
    return readPlain(this.livePath(key))
  }

  /** Removes all that is kept of a log. */
  async remove(key: ArchiveKey): Promise<void> {
    await this.#lock.asWriter(() => {
      // The live file first: without the sealed one it would seem to lack its beginning.
      for (const path of [this.livePath(key), this.sealedPath(key)]) rmSync(path, { force: true })
      for (const number of this.versionNumbers(key)) rmSync(this.versionPath(key, number), { force: true })
      if (existsSync(dirname(this.livePath(key)))) syncPath(dirname(this.livePath(key)))
      this.#unpack(key)
    }, WAIT_MS)
  }

  /** Removes what counts for nothing but holds words: what killed processes left, and what a pack has of logs that went on. */
  async tidy(): Promise<void> {
    await this.#lock.asWriter(() => {
      const before = this.context.clock.now() - REMAINS_MS
      const own = new Set<string>()
      for (const directory of readdirSync(this.directory, { withFileTypes: true }).filter((one) => one.isDirectory())) {
        for (const name of readdirSync(join(this.directory, directory.name))) {
          const path = join(this.directory, directory.name, name)
          own.add(path)
          if (REMAINS.test(name) && isRemains(path, before)) rmSync(path, { force: true })
        }
      }
      if (own.size > 0) this.packs.drop((tool, name) => own.has(this.sealedPath({ tool, name })))
    }, WAIT_MS)
  }

  [Symbol.dispose](): void {
    this.#lock[Symbol.dispose]()
  }

  #writeTogether(sealed: readonly Packed[]): void {
    if (sealed.length < WORTH_A_PACK) {
      for (const one of sealed) {
        this.#makeRoom(one)
        writeAtomic(this.sealedPath(one), one.bytes, { durable: true })
      }
      return
    }
    for (const pack of packfuls(sealed)) this.packs.write(`${this.#newId()}.pack`, pack)
  }

  #writeOne(key: ArchiveKey, batch: ArchiveBatch): boolean {
    const before = this.standing(key)
    if (before?.place !== batch.from) return false
    this.#makeRoom(key)
    if (batch.isWhole) this.#replace(key, batch)
    else this.#append(key, batch, before)
    return true
  }

  #append(key: ArchiveKey, batch: ArchiveBatch, before: ReadMark | undefined): void {
    const bytes = Buffer.byteLength(factLines(batch.facts))
    const standing: ReadMark = {
      ...kept(before),
      ...kept(batch.standing),
      place: batch.standing.place,
      facts: (before?.facts ?? 0) + batch.facts.length,
      bytes: (before?.bytes ?? 0) + bytes,
    } as ReadMark
    const sealed = this.sealedHeader(key)
    const live = liveHeader(this.livePath(key))
    if (live && livesOn(live.base, sealed)) {
      appendLive(this.livePath(key), batch.facts, standing)
      return
    }
    const base = sealed ? { base: { id: sealed.id, how: 'continues' as const } } : {}
    createLive(this.livePath(key), { ...originOf(batch.log), id: this.#newId(), ...base }, batch.facts, standing)
  }

  #replace(key: ArchiveKey, batch: ArchiveBatch): void {
    const set_aside = this.#setAside(key, batch)
    const bytes = Buffer.byteLength(factLines(batch.facts))
    const standing: ReadMark = { ...batch.standing, facts: batch.facts.length, bytes }
    const origin = originOf(batch.log)
    if (batch.isOver) {
      this.#writeSealed(key, { origin, standing, facts: [...batch.facts] })
      rmSync(this.livePath(key), { force: true })
      return
    }
    const sealed = this.sealedHeader(key)
    const base = sealed ? { base: { id: sealed.id, how: 'replaces' as const } } : {}
    const header = { ...origin, id: this.#newId(), ...base, ...(set_aside === undefined ? {} : { set_aside }) }
    createLive(this.livePath(key), header, batch.facts, standing)
    rmSync(this.sealedPath(key), { force: true })
    this.#unpack(key)
  }

  #unpack(key: ArchiveKey): void {
    if (this.packs.place(key.tool, key.name)) this.packs.drop((tool, name) => tool === key.tool && name === key.name)
  }

  /**
   * Keeps what was there as a version, if a log that was read anew lacks some of it. Of a log that comes in slices that is known at its end:
   * then the number of the first version to look at is returned, for `settle`.
   */
  #setAside(key: ArchiveKey, batch: ArchiveBatch): number | undefined {
    if (!this.isThere(key)) return undefined
    // The reading before was interrupted, and had set something aside already.
    const begun = liveHeader(this.livePath(key))?.set_aside
    using compared = this.open(key)
    if (!compared || (!batch.isPart && !losesSomething(compared.facts(), batch.facts))) return begun
    using before = this.open(key)
    const number = before && this.#keepVersion(key, before)
    return batch.isPart || begun !== undefined ? (begun ?? number) : undefined
  }

  /** Unless the newest version is the same already: a process may have been killed between this and what follows. */
  #keepVersion(key: ArchiveKey, content: OpenedLog): number {
    const newest = this.versionNumbers(key).at(-1) ?? 0
    using known = newest > 0 ? this.open(key, newest) : undefined
    const { stamp, place } = content.standing
    if (known && known.standing.stamp === stamp && known.standing.place === place) return newest
    using writer = new SealedWriter(this.versionPath(key, newest + 1))
    for (const facts of content.pieces()) writer.add(facts)
    this.#makeRoom(key) // what was packed until now has none
    writer.finish({ ...this.#headerOf(content), superseded_at: this.#now() })
    return newest + 1
  }

  #writeSealed(key: ArchiveKey, { facts, ...content }: Told, version?: number): void {
    this.#makeRoom(key)
    const path = version === undefined ? this.sealedPath(key) : this.versionPath(key, version)
    const known = this.versions(key).find((one) => one.number === version)?.superseded_at
    const superseded_at = version === undefined ? {} : { superseded_at: known ?? this.#now() }
    using writer = new SealedWriter(path)
    writer.add(facts)
    writer.finish({ ...this.#headerOf(content), ...superseded_at })
  }

  #headerOf({ origin, standing }: Pick<Told, 'origin' | 'standing'>): Parameters<typeof sealedBytes>[0] {
    const { tool, path, root, part } = origin
    const whole = { tool, path, root, part, ...kept(standing), place: standing.place }
    return { ...whole, id: this.#newId(), sealed_at: this.#now() } as Parameters<typeof sealedBytes>[0]
  }

  #makeRoom({ tool }: ArchiveKey): void {
    makeDirectory(join(this.directory, tool))
  }

  #newId(): string {
    return Buffer.from(this.context.random.bytes(8)).toString('hex')
  }

  #now(): Instant {
    return instantOf(this.context.clock.now())
  }
}

function isRemains(path: string, beforeMs: number): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  return stat?.isFile() === true && stat.mtimeMs < beforeMs
}

function unsealed({ sealed, ...batch }: SealedBatch): ArchiveBatch {
  const content = parseSealed(sealed)
  return { ...batch, facts: 'facts' in content ? content.facts : [] }
}

function* packfuls(sealed: readonly Packed[]): Generator<Packed[]> {
  let pack: Packed[] = []
  let size = 0
  for (const one of sealed) {
    pack.push(one)
    size += one.bytes.length
    if (size < PACK_BYTES) continue
    yield pack
    pack = []
    size = 0
  }
  if (pack.length > 0) yield pack
}

type Told = { origin: ReturnType<typeof originOf>; standing: ReadMark; facts: Fact[] }

/** What of a standing is worth carrying on: later readings of a log do not say again what they said once. */
function kept(standing: Partial<ReadMark> | undefined): Partial<ReadMark> {
  const names = [
    ...(['place', 'stamp', 'size', 'modified_at', 'session', 'agent', 'cwd', 'last_at'] as const),
    ...(['counters', 'head', 'policy', 'facts', 'bytes'] as const),
  ]
  return Object.fromEntries(names.flatMap((name) => (standing?.[name] === undefined ? [] : [[name, standing[name]]])))
}
