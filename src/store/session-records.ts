import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory, readPlain, syncPath, writeAtomic } from '../disk/index.js'
import type { FoldedSession } from '../index/index.js'
import {
  isEventId,
  isSessionId,
  isSoundSession,
  readJson,
  type Session,
  type SessionId,
  SkeinError,
} from '../model/index.js'

/** Raised when a record of this version could not be read by an older Skein. */
const RECORD_VERSION = 1
const SUFFIX = '.json'

/** A record file that holds no session. */
export interface DamagedRecord {
  id: SessionId
  path: string
}

/** One file per session: its state up to an event, readable by people, and all that is left of it once its events are pruned. */
export class SessionRecords {
  #isPrepared = false

  constructor(private readonly directory: string) {}

  path(id: SessionId): string {
    return join(this.directory, id + SUFFIX)
  }

  /** Not waited for: until the events are pruned they can make it again. `sync` comes before that. */
  save(folded: FoldedSession): void {
    if (!this.#isPrepared) makeDirectory(this.directory)
    this.#isPrepared = true
    writeAtomic(this.path(folded.session.id), `${JSON.stringify(encodeRecord(folded), undefined, 1)}\n`, {
      durable: false,
    })
  }

  sync(ids: Iterable<SessionId>): void {
    for (const id of ids) {
      if (existsSync(this.path(id))) syncPath(this.path(id))
    }
    if (existsSync(this.directory)) syncPath(this.directory)
  }

  exists(id: SessionId): boolean {
    return existsSync(this.path(id))
  }

  remove(ids: Iterable<SessionId>): void {
    for (const id of ids) rmSync(this.path(id), { force: true })
  }

  /** Every record, in no particular order. */
  *all(): Generator<FoldedSession | DamagedRecord> {
    for (const id of this.ids()) {
      const folded = this.read(id)
      if (folded) yield folded
      else if (isThere(this.path(id))) yield { id, path: this.path(id) }
    }
  }

  /** The sessions that have a plain record. */
  ids(): SessionId[] {
    if (!existsSync(this.directory)) return []
    const names = readdirSync(this.directory).filter((name) => name.endsWith(SUFFIX))
    return names.map((name) => name.slice(0, -SUFFIX.length)).filter(isSessionId)
  }

  read(id: SessionId): FoldedSession | undefined {
    const content = readPlain(this.path(id))
    const folded = content && decodeRecord(content.toString(), this.path(id))
    return folded?.session.id === id ? folded : undefined
  }
}

export function encodeRecord({ session, through }: FoldedSession): object {
  return { v: RECORD_VERSION, ...session, through }
}

/** A record of a later Skein is not damage: it stops the reader instead of being set aside. */
export function decodeRecord(text: string, where: string): FoldedSession | undefined {
  const value = readJson(text)
  if (typeof value !== 'object' || value === null) return undefined
  const { v, through, ...session } = value as { v?: unknown; through?: unknown }
  if (isNewer(v, RECORD_VERSION)) throw newerFormat(where)
  const isWhole = v === RECORD_VERSION && isEventId(through) && isSoundSession(session)
  return isWhole ? { session: session as Session, through } : undefined
}

/** Whether a file says that it is of a later version. A number that no version will have is damage. */
export const isNewer = (v: unknown, ours: number): boolean =>
  Number.isInteger(v) && Number(v) > ours && Number(v) < 1_000

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined

export function newerFormat(where: string): SkeinError {
  return new SkeinError(
    'newer-format',
    `${where} was written by a newer Skein`,
    'Update Skein (npm install -g skein), then try again; the file was not touched',
  )
}
