import { createHash } from 'node:crypto'
import { renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  FileLock,
  makeDirectory,
  namesIn,
  type ProcessPlace,
  processStat,
  refuseDeadDirectory,
  statOf,
  textIn,
  thisPlace,
  whereaboutsOf,
  writeAtomic,
} from '../../disk/index.js'
import { type AgentId, isNewer, readJson, type SessionId, SkeinError, shapes } from '../../model/index.js'
import type { Parts } from '../parts.js'
import { forksDirectory } from './sweep-forks.js'

/** What a fork is about to make, written down before it is made. Whoever finds the note of a fork whose process is gone takes it back. */
export interface ForkNote {
  v: 1
  id: string
  pid: number
  process_start?: number
  place: ProcessPlace
  /** A worktree of this repository, on a new branch at this commit; or a plain directory. */
  repository?: string
  directory?: string
  /** Which directory it is: another one of that name is not ours. */
  made?: string
  /** The directories above it that did not exist, innermost first. */
  made_above?: string[]
  /** The branch did not exist. */
  branch?: string
  head?: string
  /** Nothing of the fork writes into the directory after this note. */
  is_ready?: true
  files: string[]
  /** A conversation that the program of a tool takes into its own store. */
  imported?: { tool: string; session: SessionId; cwd: string }
  agent?: AgentId
  /** Groups that did not exist. */
  groups?: string[]
  session?: SessionId
}

const { count, flag, misfit, path, shape, shaped, text, texts } = shapes
const NOTE = shape({
  v: (value) => value === 1,
  id: text,
  pid: count,
  'process_start?': count,
  'place?': shaped(shape({ host: text, 'machine?': text, 'boot?': text, 'pid_namespace?': text })),
  'repository?': path,
  'directory?': path,
  'made?': text,
  'made_above?': texts,
  'branch?': text,
  'head?': text,
  'is_ready?': flag,
  files: texts,
  'imported?': shaped(shape({ tool: text, session: text, cwd: path })),
  'agent?': text,
  'groups?': texts,
  'session?': text,
})

const SUFFIX = '.json'
const LOCK = 'sweep.lock'

export class ForkNotes {
  constructor(private readonly parts: Parts) {}

  begin(id: string): ForkNote {
    const start = processStat(process.pid)?.starttime
    return {
      v: 1,
      id,
      pid: process.pid,
      ...(start === undefined ? {} : { process_start: start }),
      place: thisPlace(),
      files: [],
    }
  }

  write(note: ForkNote): void {
    makeDirectory(forksDirectory(this.parts))
    writeAtomic(this.#path(note.id), `${JSON.stringify({ ...note, sum: sumOf(note) })}\n`, { durable: true })
  }

  forget(id: string): void {
    rmSync(this.#path(id), { force: true })
  }

  /** Takes back what forks that were cut off have left. One whose program was started is complete. One process does it at a time. */
  async sweep(): Promise<void> {
    const left = namesIn(forksDirectory(this.parts)).flatMap((name) => this.#leftBy(name) ?? [])
    if (left.length === 0) return
    using lock = new FileLock(join(forksDirectory(this.parts), LOCK))
    using held = await lock.hold(0).catch(busy)
    if (!held) return
    const { undoFork } = await import('./undo-fork.js')
    for (const { name } of left) {
      const found = this.#leftBy(name) // another process may have done it
      if (!found) continue
      const { note, writtenMs } = found
      try {
        await undoFork(this.parts, note, { writtenMs })
        this.forget(note.id)
      } catch (error) {
        if (!(error instanceof Error)) throw error
        this.parts.context.warn(`A fork that was interrupted could not be undone: ${error.message}`)
      }
    }
  }

  #leftBy(name: string): { name: string; note: ForkNote; writtenMs: number } | undefined {
    if (!name.endsWith(SUFFIX)) return undefined
    const path = join(forksDirectory(this.parts), name)
    const writtenMs = statOf(path)?.mtimeMs
    const note = readNote(textIn(path))
    if (note === 'damaged') this.#setAside(path)
    else if (note && writtenMs !== undefined && !isAlive(note)) return { name, note, writtenMs }
    return undefined
  }

  /** What a damaged note names may be anything: nothing of it is removed. */
  #setAside(path: string): void {
    try {
      renameSync(path, `${path}.damaged`)
    } catch {
      return // another process did it
    }
    this.parts.context.warn(`The note of an interrupted fork is damaged; what it made was left: ${path}.damaged`)
  }

  #path(id: string): string {
    return join(forksDirectory(this.parts), `${id}${SUFFIX}`)
  }
}

function busy(error: unknown): undefined {
  if (error instanceof SkeinError && error.code === 'home-busy') return undefined
  throw error
}

function readNote(text: string | undefined): ForkNote | 'damaged' | undefined {
  if (text === undefined) return undefined
  const value = readJson(text)
  if (!shapes.isObject(value)) return 'damaged'
  if (isNewer(value.v, 1)) return undefined
  const { sum, ...note } = value
  const isWhole = misfit(note, NOTE) === undefined && (sum === undefined || sum === sumOf(note))
  return isWhole ? (note as unknown as ForkNote) : 'damaged'
}

/** A note names what is removed: one changed character must not make it name something else. */
const sumOf = (note: object): string => createHash('sha256').update(JSON.stringify(note)).digest('hex')

/** A process that cannot be seen from here is left alone. */
function isAlive({ pid, process_start, place }: ForkNote): boolean {
  const where = whereaboutsOf(place)
  if (where !== 'here') return where === 'elsewhere'
  const stat = processStat(pid)
  return stat !== undefined && (process_start === undefined || stat.starttime === process_start)
}

/** Tells a directory from another one that was made in its place. */
export function directoryMark(path: string): string {
  refuseDeadDirectory(path)
  const { dev, ino, birthtimeNs } = statSync(path, { bigint: true })
  return `${dev}:${ino}:${birthtimeNs}`
}
