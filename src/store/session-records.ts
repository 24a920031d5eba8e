import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory, readPlain, syncPath, writeAtomic } from '../disk/index.js'
import type { FoldedSession } from '../index/index.js'
import {
  isEventId,
  isNewer,
  isSessionId,
  isSoundSession,
  readJson,
  type Session,
  type SessionId,
} from '../model/index.js'
import { isNewerFile } from './file-version.js'

/** Raised when a record of this version could not be read by an older Skein. */
const RECORD_VERSION = 1
const SUFFIX = '.json'

/** Why a record tells no session: it is damaged, or a newer Skein wrote it, which is kept as it is. */
export type Unread = 'damaged' | 'newer'

export interface UnreadRecord {
  id: SessionId
  path: string
  why: Unread
}

/** One file per session: its state up to an event, readable by people, and all that is left of it once its events are pruned. */
export class SessionRecords {
  #isPrepared = false

  constructor(private readonly directory: string) {}

  path(id: SessionId): string {
    return join(this.directory, id + SUFFIX)
  }

  /**
   * Not waited for: until the events are pruned they can make it again. `sync` comes before that. False when a newer Skein wrote the
   * record: it stays, and so do the events.
   */
  save(folded: FoldedSession): boolean {
    if (!this.#isPrepared) makeDirectory(this.directory)
    this.#isPrepared = true
    if (this.isNewer(folded.session.id)) return false
    writeAtomic(this.path(folded.session.id), `${JSON.stringify(encodeRecord(folded), undefined, 1)}\n`, {
      durable: false,
    })
    return true
  }

  /** Whether a newer Skein wrote the record. */
  isNewer(id: SessionId): boolean {
    return isNewerFile(this.path(id), RECORD_VERSION)
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
  *all(): Generator<FoldedSession | UnreadRecord> {
    for (const id of this.ids()) {
      const read = this.#read(id)
      if (typeof read === 'object') yield read
      else if (isThere(this.path(id))) yield { id, path: this.path(id), why: read }
    }
  }

  /** The sessions that have a plain record. */
  ids(): SessionId[] {
    if (!existsSync(this.directory)) return []
    const names = readdirSync(this.directory).filter((name) => name.endsWith(SUFFIX))
    return names.map((name) => name.slice(0, -SUFFIX.length)).filter(isSessionId)
  }

  #read(id: SessionId): FoldedSession | Unread {
    const content = readPlain(this.path(id))
    const read = content ? decodeRecord(content.toString()) : 'damaged'
    return typeof read === 'object' && read.session.id !== id ? 'damaged' : read
  }
}

export function encodeRecord({ session, through }: FoldedSession): object {
  return { v: RECORD_VERSION, ...session, through }
}

export function decodeRecord(text: string): FoldedSession | Unread {
  const value = readJson(text)
  if (typeof value !== 'object' || value === null) return 'damaged'
  const { v, through, ...session } = value as { v?: unknown; through?: unknown }
  if (isNewer(v, RECORD_VERSION)) return 'newer'
  const isWhole = v === RECORD_VERSION && isEventId(through) && isSoundSession(session)
  return isWhole ? { session: session as Session, through } : 'damaged'
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined
