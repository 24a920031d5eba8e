import {
  closeSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { threadId } from 'node:worker_threads'
import { explainDiskError, FileLock, type Life, lifeOf, type ProcessOwner, thisProcess } from '../../disk/index.js'
import { systemSurroundings } from '../environment.js'

export interface LockOptions {
  /** How long to wait for the lock. */
  timeoutMs?: number
  /** The longest pause between two looks. */
  pollIntervalMs?: number
  /** How old the lock of an owner that cannot be asked (another container, an unreadable file) must be to be taken away. */
  staleMs?: number
}

const TIMEOUT_MS = 10_000
const POLL_MS = 25
const STALE_MS = 30_000

/** Somebody else holds it. */
export interface Held {
  owner: ProcessOwner | undefined
  life: Life
  ageMs: number
}

let drafts = 0

/**
 * A lock that is a file, so that programs which know the file's name and nothing of us keep out too.
 *
 * - It appears with its owner's name already inside (a link to a finished file), so there is no moment in which it is empty.
 * - An owner whose process is gone is evicted at once. A living one keeps it for as long as it likes.
 * - Two processes that find the same dead owner cannot both evict it, nor evict the one that came after: eviction happens
 *   under a lock of the operating system, on the very file that was judged.
 */
export class LockFile implements Disposable {
  readonly #heartbeat: NodeJS.Timeout
  #released = false

  private constructor(
    readonly path: string,
    private readonly content: string,
    staleMs: number,
  ) {
    // For those who cannot look up our pid: a lock that is still being touched has an owner.
    this.#heartbeat = setInterval(() => this.#touch(), Math.max(1_000, staleMs / 3)).unref()
  }

  /** Takes the lock now or says who has it. */
  static async take(path: string, options: LockOptions = {}): Promise<LockFile | Held> {
    const staleMs = options.staleMs ?? STALE_MS
    for (;;) {
      const content = create(path)
      if (content !== undefined) return new LockFile(path, content, staleMs)
      const held = look(path)
      if (held === 'gone') continue
      if (!isStale(held, staleMs)) return held
      await evict(path, staleMs)
    }
  }

  /** Waits for the lock; after `timeoutMs` says who has it. */
  static async wait(path: string, options: LockOptions = {}): Promise<LockFile | Held> {
    const deadline = performance.now() + (options.timeoutMs ?? TIMEOUT_MS)
    const longestMs = options.pollIntervalMs ?? POLL_MS
    for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, longestMs)) {
      const taken = await LockFile.take(path, options)
      if (taken instanceof LockFile) return taken
      const leftMs = deadline - performance.now()
      if (leftMs <= 0) return taken
      await sleep(Math.min(pauseMs, leftMs))
    }
  }

  #touch(): void {
    try {
      const seconds = systemSurroundings.clock.now() / 1000
      if (this.#isOurs()) utimesSync(this.path, seconds, seconds)
    } catch {
      // The directory went away, or became read-only: whoever holds the lock will notice on the write that matters.
    }
  }

  /** By content, not by inode: file systems give a freed inode to the next file. */
  #isOurs(): boolean {
    try {
      return readFileSync(this.path, 'utf8') === this.content
    } catch {
      return false
    }
  }

  [Symbol.dispose](): void {
    if (this.#released) return
    this.#released = true
    clearInterval(this.#heartbeat)
    if (this.#isOurs()) rmSync(this.path, { force: true })
  }
}

/** What the lock says when this call made it, undefined when there is one already. */
function create(path: string): string | undefined {
  if (lstatSync(path, { throwIfNoEntry: false })) return undefined // spares the draft while somebody else works
  const turn = `${threadId}-${++drafts}`
  const draft = `${path}.${process.pid}-${turn}`
  const now = new Date(systemSurroundings.clock.now())
  // pid, startedAt, createdAt, starttime: what the lock files of the original's generations call these things.
  const content = JSON.stringify({ ...thisProcess(), startedAt: now.getTime(), createdAt: now.toISOString(), turn })
  try {
    writeFileSync(draft, content, { mode: 0o600 })
    linkSync(draft, path)
    return content
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return undefined
    if (code === 'EPERM' || code === 'ENOTSUP' || code === 'ENOSYS') return createWithoutLinks(path, content)
    throw explainDiskError(error, path)
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Some file systems have no hard links. A crash between the two steps leaves an unreadable lock, which goes stale by age. */
function createWithoutLinks(path: string, content: string): string | undefined {
  try {
    const file = openSync(path, 'wx', 0o600)
    try {
      writeFileSync(file, content)
    } finally {
      closeSync(file)
    }
    return content
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined
    throw explainDiskError(error, path)
  }
}

function look(path: string): Held | 'gone' {
  try {
    const owner = parseOwner(readFileSync(path, 'utf8'))
    const ageMs = systemSurroundings.clock.now() - statSync(path).mtimeMs
    return { owner, life: owner ? lifeOf(owner) : 'unknown', ageMs }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'gone'
    throw explainDiskError(error, path)
  }
}

function parseOwner(text: string): ProcessOwner | undefined {
  try {
    const { pid, starttime, place } = JSON.parse(text) as Record<string, unknown>
    if (typeof pid !== 'number' || !Number.isInteger(pid) || pid <= 0) return undefined
    return {
      pid,
      ...(typeof starttime === 'number' ? { starttime } : {}),
      ...(typeof place === 'string' ? { place } : {}),
    }
  } catch {
    return undefined
  }
}

const isStale = (held: Held, staleMs: number): boolean =>
  held.life === 'dead' || (held.life === 'unknown' && held.ageMs > staleMs)

/** Judges once more under the guard: between our look and now another process may have evicted the dead and moved in. */
async function evict(path: string, staleMs: number): Promise<void> {
  using guard = new FileLock(`${path}.evictions`)
  try {
    await guard.asWriter(() => {
      const held = look(path)
      if (held !== 'gone' && isStale(held, staleMs)) rmSync(path, { force: true })
    }, 5_000)
  } catch (error) {
    throw explainDiskError(error, path)
  }
}

/** One sentence about who is in the way. */
export function describeHolder(held: Held): string {
  const seconds = Math.max(0, Math.round(held.ageMs / 1000))
  if (!held.owner) return `a lock without an owner, ${seconds} s old`
  const where = held.life === 'unknown' ? ` in another place (${held.owner.place})` : ''
  return `process ${held.owner.pid}${where}, for ${seconds} s`
}
