import { closeSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { foreignAt, openPlain, statIfThere } from '../disk/index.js'
import type { Instant } from '../model/index.js'
import type { Fact } from '../tools/index.js'
import { archiveName, type LogOrigin, type ReadMark } from './archived-log.js'
import { LiveReader, liveHeader, liveStanding } from './live-file.js'
import { livesOn, OpenedLog } from './opened-log.js'
import { Packs } from './pack.js'
import { readAt } from './read-at.js'
import { HEADER_BYTES, type SealedHeader, sealedHeader } from './sealed-file.js'
import { SealedReader } from './sealed-reader.js'

/** Where the files of one archived log are. */
export interface ArchiveKey {
  tool: string
  name: string
}

/** One archived log, as its files' first and last lines tell it. */
export interface ArchiveEntry extends ArchiveKey {
  origin: LogOrigin
  standing: ReadMark
  /** It is still being written to, in part or as a whole. */
  is_live: boolean
  /** What it takes on the disk, older versions included. */
  stored_bytes: number
  versions: ArchiveVersion[]
}

/** What a log said before it was rewritten and lost some of it. */
export interface ArchiveVersion {
  number: number
  superseded_at: Instant | undefined
  facts: number
  stored_bytes: number
}

export interface ArchivedContent {
  origin: LogOrigin
  standing: ReadMark
  facts: Fact[]
  /** What could not be read, one line each. */
  problems: string[]
}

const PACKS = 'packs'
const FILE_NAME = /^(.+?)(?:~(\d+))?\.(live|sealed)$/

/** Reads the archive without any lock: files are replaced as a whole, or grow by pieces that are vouched for. */
export class ArchiveReader {
  protected readonly packs: Packs

  constructor(protected readonly directory: string) {
    this.packs = new Packs(join(directory, PACKS))
  }

  /** Which logs are here, as the names of files and the first lines of packs tell. `is_live`: there is something to be sealed. */
  keys(): (ArchiveKey & { is_live: boolean })[] {
    this.packs.refresh()
    const found = new Map<string, ArchiveKey & { is_live: boolean }>()
    for (const path of this.packs.names()) found.set(path, { ...keyAt(path), is_live: false })
    for (const tool of directoriesIn(this.directory)) {
      for (const file of filesIn(join(this.directory, tool))) {
        const [, name, version, kind] = FILE_NAME.exec(file) ?? []
        if (name === undefined || version !== undefined) continue
        const is_live = kind === 'live' || (found.get(`${tool}/${name}`)?.is_live ?? false)
        found.set(`${tool}/${name}`, { tool, name, is_live })
      }
    }
    return [...found.values()]
  }

  keyOf(origin: Omit<LogOrigin, 'root'>): ArchiveKey {
    const place = `${origin.tool}\0${origin.path}\0${origin.part}`
    let key = this.#keys.get(place)
    if (!key) {
      key = { tool: origin.tool, name: archiveName(origin) }
      this.#keys.set(place, key)
    }
    return key
  }

  /** Names are asked for several times per log, and a digest costs more than all the rest of it. */
  readonly #keys = new Map<string, ArchiveKey>()

  /** How far a log was archived; undefined when it was not, or when that cannot be told. */
  standing(key: ArchiveKey): ReadMark | undefined {
    return this.#valid(key)?.standing
  }

  entry(key: ArchiveKey): ArchiveEntry | undefined {
    const found = this.#valid(key)
    if (!found) return undefined
    const versions = this.versions(key)
    const own = [this.livePath(key), this.sealedPath(key)].map(sizeOf)
    const sizes = [...own, this.packs.place(key.tool, key.name)?.length ?? 0]
    return {
      ...key,
      origin: found.origin,
      standing: found.standing,
      is_live: found.isLive,
      stored_bytes: [...sizes, ...versions.map((one) => one.stored_bytes)].reduce((sum, size) => sum + size, 0),
      versions,
    }
  }

  /** All of them, and the names of those whose files tell nothing. */
  entries(): { entries: ArchiveEntry[]; unreadable: ArchiveKey[] } {
    const entries: ArchiveEntry[] = []
    const unreadable: ArchiveKey[] = []
    for (const key of this.keys()) {
      const entry = this.entry(key)
      if (entry) entries.push(entry)
      else if (this.isThere(key)) unreadable.push(key)
    }
    return { entries, unreadable }
  }

  /** All that was archived of a log, or of one of its older versions. */
  read(key: ArchiveKey, version?: number): ArchivedContent | undefined {
    using log = this.open(key, version)
    if (!log) return undefined
    const facts: Fact[] = []
    for (const piece of log.pieces()) for (const fact of piece) facts.push(fact)
    return { origin: log.origin, standing: log.standing, facts, problems: log.problems }
  }

  /** The same to be read a piece at a time. Its files are open: they may be replaced meanwhile. */
  open(key: ArchiveKey, version?: number): OpenedLog | undefined {
    const name = `${key.tool}/${key.name}`
    if (version !== undefined) {
      const sealed = SealedReader.open(this.versionPath(key, version))
      return OpenedLog.of(sealed, undefined, `${name}~${version}`)
    }
    for (let attempt = 0; ; attempt += 1) {
      this.packs.refresh()
      const before = this.sealedHeader(key)?.id
      const log = this.#openNow(key, name)
      // Somebody sealed it while we opened it: the two files did not belong together.
      if (this.sealedHeader(key)?.id === before || attempt === 5) return log
      log?.[Symbol.dispose]()
    }
  }

  /** Whether there is anything of a log, readable or not. */
  isThere(key: ArchiveKey): boolean {
    if (this.packs.place(key.tool, key.name)) return true
    return [this.livePath(key), this.sealedPath(key)].some((path) => statIfThere(path))
  }

  /** What is in the place of a file and is none, by the path in the archive: what it is. None of it is ever opened. */
  foreign(): Map<string, string> {
    const found = new Map<string, string>()
    const look = (place: string, isOurs: (name: string) => boolean): void => {
      for (const name of filesIn(join(this.directory, place)).filter(isOurs)) {
        const what = foreignAt(join(this.directory, place, name))
        if (what !== undefined) found.set(`${place}/${name}`, what)
      }
    }
    for (const tool of directoriesIn(this.directory)) look(tool, (name) => FILE_NAME.test(name))
    look(PACKS, (name) => name.endsWith('.pack'))
    return found
  }

  /** Names of packs of which nothing can be read. */
  damagedPacks(): readonly string[] {
    this.packs.refresh()
    return this.packs.unreadable.map((name) => `${PACKS}/${name}`)
  }

  /** The file of its own counts: it was made of what is in the pack. */
  protected sealedHeader(key: ArchiveKey): SealedHeader | undefined {
    const start = headOf(this.sealedPath(key))
    if (start) return sealedHeader(start)
    const place = this.packs.place(key.tool, key.name)
    if (!place) return undefined
    const head = this.packs.read(place, HEADER_BYTES)
    const whole = head?.includes(0x0a) ? head : this.packs.read(place)
    return whole && sealedHeader(whole)
  }

  protected livePath({ tool, name }: ArchiveKey): string {
    return join(this.directory, tool, `${name}.live`)
  }

  protected sealedPath({ tool, name }: ArchiveKey): string {
    return join(this.directory, tool, `${name}.sealed`)
  }

  protected versionPath({ tool, name }: ArchiveKey, number: number): string {
    return join(this.directory, tool, `${name}~${number}.sealed`)
  }

  protected versionNumbers({ tool, name }: ArchiveKey): number[] {
    return filesIn(join(this.directory, tool))
      .map((file) => FILE_NAME.exec(file))
      .flatMap((match) => (match?.[1] === name && match[2] !== undefined ? [Number(match[2])] : []))
      .sort((a, b) => a - b)
  }

  protected versions(key: ArchiveKey): ArchiveVersion[] {
    return this.versionNumbers(key).map((number) => {
      const path = this.versionPath(key, number)
      const start = headOf(path)
      const header = start && sealedHeader(start)
      return { number, superseded_at: header?.superseded_at, facts: header?.facts ?? 0, stored_bytes: sizeOf(path) }
    })
  }

  #valid(key: ArchiveKey): { origin: LogOrigin; standing: ReadMark; isLive: boolean } | undefined {
    const sealed = this.sealedHeader(key)
    const live = liveHeader(this.livePath(key))
    const counts = live && livesOn(live.base, sealed)
    const standing = counts ? liveStanding(this.livePath(key)) : undefined
    if (live && standing) return { origin: live, standing, isLive: true }
    return sealed && { origin: sealed, standing: sealed, isLive: false }
  }

  #openNow(key: ArchiveKey, name: string): OpenedLog | undefined {
    const place = this.packs.place(key.tool, key.name)
    const packed = (): Buffer | undefined => place && this.packs.read(place)
    const sealed = SealedReader.open(this.sealedPath(key)) ?? SealedReader.of(packed())
    const live = LiveReader.open(this.livePath(key))
    return OpenedLog.of(sealed, live, name, !live && sizeOf(this.livePath(key)) > 0)
  }
}

const sizeOf = (path: string): number => statIfThere(path)?.size ?? 0

export function keyAt(path: string): ArchiveKey {
  const slash = path.indexOf('/')
  return { tool: path.slice(0, slash), name: path.slice(slash + 1) }
}

/** The file's beginning, up to the end of its first line at least; undefined when there is no such file. */
function headOf(path: string): Buffer | undefined {
  if (!existsSync(path)) return undefined // quicker than an error, and most have none
  const file = openPlain(path)
  if (file === undefined) return undefined
  try {
    for (let length = HEADER_BYTES; ; length *= 4) {
      const head = readAt(file, 0, length)
      if (head.includes(0x0a) || head.length < length) return head
    }
  } finally {
    closeSync(file)
  }
}

function filesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  }
}

function directoriesIn(directory: string): string[] {
  return filesIn(directory).filter((name) => name !== PACKS && statIfThere(join(directory, name))?.isDirectory())
}
