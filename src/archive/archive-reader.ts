import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Instant } from '../model/index.js'
import type { Fact } from '../tools/index.js'
import { archiveName, type LogOrigin, type Standing } from './archived-log.js'
import { liveHeader, liveStanding, readLive } from './live-file.js'
import { readSealed, type SealedHeader, sealedHeader } from './sealed-file.js'

/** Where the files of one archived log are. */
export interface ArchiveKey {
  tool: string
  name: string
}

/** One archived log, as its files' first and last lines tell it. */
export interface ArchiveEntry extends ArchiveKey {
  origin: LogOrigin
  standing: Standing
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
  standing: Standing
  facts: Fact[]
  /** What could not be read, one line each. */
  problems: string[]
}

const FILE_NAME = /^(.+?)(?:~(\d+))?\.(live|sealed)$/

/** Reads the archive without any lock: files are replaced as a whole, or grow by pieces that are vouched for. */
export class ArchiveReader {
  constructor(protected readonly directory: string) {}

  /** Which logs have files here, without opening any. `is_live`: there is something to be sealed. */
  keys(): (ArchiveKey & { is_live: boolean })[] {
    return directoriesIn(this.directory).flatMap((tool) => {
      const names = new Map<string, boolean>()
      for (const file of filesIn(join(this.directory, tool))) {
        const [, name, version, kind] = FILE_NAME.exec(file) ?? []
        if (name !== undefined && version === undefined) names.set(name, names.get(name) || kind === 'live')
      }
      return [...names].map(([name, is_live]) => ({ tool, name, is_live }))
    })
  }

  keyOf(origin: Omit<LogOrigin, 'root'>): ArchiveKey {
    return { tool: origin.tool, name: archiveName(origin) }
  }

  /** How far a log was archived; undefined when it was not, or when that cannot be told. */
  standing(key: ArchiveKey): Standing | undefined {
    return this.#valid(key)?.standing
  }

  entry(key: ArchiveKey): ArchiveEntry | undefined {
    const found = this.#valid(key)
    if (!found) return undefined
    const versions = this.#versions(key)
    const sizes = [this.livePath(key), this.sealedPath(key)].map(sizeOf)
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
    if (version !== undefined) return this.#readSealedAt(this.versionPath(key, version))
    for (let attempt = 0; ; attempt += 1) {
      const before = sealedHeader(this.sealedPath(key))?.id
      const content = this.#readNow(key)
      // Somebody sealed it while we read: the two files did not belong together.
      if (sealedHeader(this.sealedPath(key))?.id === before || attempt === 5) return content
    }
  }

  /** Files that belong to nothing any more: left by a process that was killed between two steps. Harmless, and removed by the next seal. */
  isThere(key: ArchiveKey): boolean {
    return [this.livePath(key), this.sealedPath(key)].some((path) => statSync(path, { throwIfNoEntry: false }))
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

  #versions(key: ArchiveKey): ArchiveVersion[] {
    return this.versionNumbers(key).map((number) => {
      const path = this.versionPath(key, number)
      const header = sealedHeader(path)
      return { number, superseded_at: header?.superseded_at, facts: header?.facts ?? 0, stored_bytes: sizeOf(path) }
    })
  }

  #valid(key: ArchiveKey): { origin: LogOrigin; standing: Standing; isLive: boolean } | undefined {
    const sealed = sealedHeader(this.sealedPath(key))
    const live = liveHeader(this.livePath(key))
    const counts = live && livesOn(live.base, sealed)
    const standing = counts ? liveStanding(this.livePath(key)) : undefined
    if (live && standing) return { origin: live, standing, isLive: true }
    return sealed && { origin: sealed, standing: sealed, isLive: false }
  }

  #readNow(key: ArchiveKey): ArchivedContent | undefined {
    const sealed = readSealed(this.sealedPath(key))
    const header = sealed && 'header' in sealed ? sealed.header : undefined
    const live = readLive(this.livePath(key))
    const name = `${key.tool}/${key.name}`
    const problems = [
      ...(sealed?.problem ? [`${name}.sealed: ${sealed.problem}`] : []),
      ...(live?.problem ? [`${name}.live: ${live.problem}`] : []),
    ]
    const lacksBase = live?.header.base?.how === 'continues' && !header
    if (lacksBase) problems.push(`${name}.live: the sealed file that it goes on from is gone or damaged`)
    if (live && (lacksBase || livesOn(live.header.base, header))) {
      const isAddition = live.header.base?.how === 'continues'
      const earlier = isAddition && sealed && 'facts' in sealed ? sealed.facts : []
      return { origin: live.header, standing: live.standing, facts: [...earlier, ...live.facts], problems }
    }
    if (!live && sizeOf(this.livePath(key)) > 0) problems.push(`${name}.live: its beginning is damaged`)
    if (!header || !sealed || !('facts' in sealed)) return undefined
    return { origin: header, standing: header, facts: sealed.facts, problems }
  }

  #readSealedAt(path: string): ArchivedContent | undefined {
    const sealed = readSealed(path)
    if (!sealed || !('header' in sealed)) return undefined
    const { header, facts, problem } = sealed
    return { origin: header, standing: header, facts, problems: problem ? [`${path}: ${problem}`] : [] }
  }
}

/** Whether a live file counts beside this sealed file. One that was sealed already, by a process that died then, does not. */
export function livesOn(base: { id: string; how: string } | undefined, sealed: SealedHeader | undefined): boolean {
  return sealed ? base?.id === sealed.id : base?.how !== 'continues'
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

function filesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  }
}

function directoriesIn(directory: string): string[] {
  return filesIn(directory).filter((name) => statSync(join(directory, name), { throwIfNoEntry: false })?.isDirectory())
}
