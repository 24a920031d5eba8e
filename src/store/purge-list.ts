import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { FileLock, writeAtomic } from '../disk/index.js'
import { readJson, SkeinError, shapes } from '../model/index.js'
import { Forgetter, type PurgeFilter, type PurgeRule } from '../privacy/index.js'
import { bookPath, purgeStamp } from './purge-stamp.js'

/** A session that was purged, and the logs that would bring it back. */
export interface GoneSession {
  kind: 'session'
  session: string
  logs: { path: string; part: string }[]
}

/** Something that was purged. `finished` when it was proved that nothing of it is left. */
export type KeptPurge = (PurgeRule | GoneSession) & { n: number; added_at: string; finished: boolean }

interface BookContent {
  v: 1
  generation: number
  purges: KeptPurge[]
}

const EMPTY: BookContent = { v: 1, generation: 0, purges: [] }
const WAIT_MS = 30_000

/**
 * What was purged from a home, so that no ingest brings it back. A secret is kept as a salted hash; a pattern or a path as it was
 * typed. While a purge is under way, or was interrupted, a marker lies beside the book.
 */
export class PurgeList {
  readonly path: string
  readonly #marker: string
  readonly #lockPath: string
  #known: { signature: string; content: BookContent; purgeFilter: PurgeFilter } | undefined

  readonly #root: string

  constructor(root: string) {
    this.#root = root
    this.path = bookPath(root)
    this.#marker = join(root, 'purge-unfinished')
    this.#lockPath = join(root, 'purge-lock')
  }

  /** Files that say what was purged and are no place to look for it. */
  get ownFiles(): string[] {
    return [this.path, this.#marker, this.#lockPath]
  }

  isUnfinished(): boolean {
    return existsSync(this.#marker)
  }

  unfinished(): KeptPurge[] {
    return this.#read().content.purges.filter(({ finished }) => !finished)
  }

  /** Paths of the logs of purged sessions, which are kept as they are. */
  goneLogs(): string[] {
    const { purges } = this.#read().content
    return purges.flatMap((one) => (one.kind === 'session' ? one.logs.map(({ path }) => path) : []))
  }

  /** What an ingest must keep out, as of now; undefined when nothing was ever purged. */
  purgeFilter(): PurgeFilter | undefined {
    const { purgeFilter } = this.#read()
    return purgeFilter.generation === 0 ? undefined : purgeFilter
  }

  /** On the disk before anything is removed: from here on no ingest brings it back, and whoever comes next knows what to finish. */
  async begin(
    purge: PurgeRule | GoneSession,
    { addedAt, isSame }: { addedAt: string; isSame: (kept: KeptPurge) => boolean },
  ): Promise<number> {
    return this.#change((content) => {
      const known = content.purges.find(isSame)
      const others = content.purges.filter((one) => one !== known)
      const n = content.purges.reduce((highest, one) => Math.max(highest, one.n), 0) + 1
      writeAtomic(this.#marker, 'A purge is under way or was interrupted. Finish it with: skein purge --resume\n', {
        durable: true,
      })
      const kept: KeptPurge = { ...purge, n, added_at: known?.added_at ?? addedAt, finished: false }
      return {
        content: { ...content, generation: content.generation + 1, purges: [...others, kept] },
        result: n,
      }
    })
  }

  /** Nothing of these is left. */
  async finish(numbers: ReadonlySet<number>): Promise<void> {
    await this.#change((content) => {
      const purges = content.purges.map((one) => (numbers.has(one.n) ? { ...one, finished: true } : one))
      if (purges.every(({ finished }) => finished)) rmSync(this.#marker, { force: true })
      return { content: { ...content, purges }, result: undefined }
    })
  }

  /** Lets a session be ingested again. */
  async readmit(session: string): Promise<void> {
    await this.#change((content) => ({
      content: {
        ...content,
        purges: content.purges.filter((one) => one.kind !== 'session' || one.session !== session),
      },
      result: undefined,
    }))
  }

  async #change<T>(change: (content: BookContent) => { content: BookContent; result: T }): Promise<T> {
    using lock = new FileLock(this.#lockPath)
    return await lock.asWriter(() => {
      const { content, result } = change(this.#read().content)
      writeAtomic(this.path, `${JSON.stringify(content, undefined, 1)}\n`, { durable: true })
      return result
    }, WAIT_MS)
  }

  #read(): { content: BookContent; purgeFilter: PurgeFilter } {
    const signature = purgeStamp(this.#root)
    if (this.#known?.signature === signature) return this.#known
    const content = signature !== '' ? parsed(readFileSync(this.path, 'utf8'), this.path) : EMPTY
    this.#known = { signature, content, purgeFilter: purgeFilterOf(content) }
    return this.#known
  }
}

function purgeFilterOf({ generation, purges }: BookContent): PurgeFilter {
  const sessions = new Set(purges.flatMap((one) => (one.kind === 'session' ? [one.session] : [])))
  const logs = new Set(
    purges.flatMap((one) => (one.kind === 'session' ? one.logs.map(({ path, part }) => `${path}\0${part}`) : [])),
  )
  return {
    forgetter: new Forgetter(purges.flatMap((one) => (one.kind === 'session' ? [] : [one]))),
    generation,
    isSessionGone: (session) => sessions.has(session),
    isLogGone: (path, part) => logs.has(`${path}\0${part}`),
  }
}

const { count, flag, isObject, listOf, misfit, shape, shaped, text: isText } = shapes
const isHex = (value: unknown): boolean => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
const RULES: Readonly<Record<KeptPurge['kind'], ReturnType<typeof shape>>> = {
  secret: shape({ print: shaped(shape({ length: count, salt: isHex, hash: isHex, rough: count })) }),
  pattern: shape({ source: isText }),
  path: shape({ glob: isText }),
  session: shape({ session: isText, logs: listOf(shaped(shape({ path: isText, part: isText }))) }),
}
const KEPT = shape({
  kind: (kind) => typeof kind === 'string' && Object.hasOwn(RULES, kind),
  n: count,
  added_at: isText,
  finished: flag,
})
const isPurge = (one: unknown): boolean =>
  isObject(one) && misfit(one, KEPT) === undefined && misfit(one, RULES[one.kind as KeptPurge['kind']]) === undefined
const isBook = shaped(shape({ v: (v) => v === 1, generation: count, purges: listOf(isPurge) }))

/** What was purged must not come back because a file was damaged: then nothing is ingested until somebody has looked. */
function parsed(text: string, path: string): BookContent {
  const content = readJson(text)
  if (isBook(content)) return content as BookContent
  throw new SkeinError(
    'store-damaged',
    `${path}, the list of what was purged, is damaged or from a newer Skein`,
    'Restore a backup, or delete it: purged text is then read again from the logs that still contain it',
  )
}
