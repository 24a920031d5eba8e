import { chmodSync, lstatSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SkeinError } from '../model/index.js'
import { FileLock } from './lock.js'
import { isThere, statOf } from './plain-file.js'
import { entriesIn, namesIn } from './present.js'

const PREFIX = 'skein-scratch-'
/** A younger directory may have no lock yet, or one that is not held yet. */
const MADE_WITHIN_MS = 60_000

/**
 * A directory of ours for a while. Its lock is held by the system for as long as its process lives, so that what a killed process left is
 * found and removed by the next one.
 */
export class ScratchDirectory implements Disposable {
  private constructor(
    readonly path: string,
    private readonly lock: Disposable,
  ) {}

  static async make(): Promise<ScratchDirectory> {
    const path = mkdtempSync(join(tmpdir(), PREFIX))
    return new ScratchDirectory(path, await new FileLock(join(path, 'lock')).hold(0))
  }

  [Symbol.dispose](): void {
    this.lock[Symbol.dispose]()
    removeTree(this.path)
  }
}

/** Removes what processes that are gone left behind; says how many. */
export async function sweepScratch(nowMs: number): Promise<number> {
  let swept = 0
  for (const name of namesIn(tmpdir())) {
    const path = join(tmpdir(), name)
    if (!name.startsWith(PREFIX) || !isOurs(path) || !(await isAbandoned(path, nowMs))) continue
    removeTree(path)
    swept += 1
  }
  return swept
}

function isOurs(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  return stat?.isDirectory() === true && stat.uid === process.getuid?.()
}

async function isAbandoned(path: string, nowMs: number): Promise<boolean> {
  const lock = join(path, 'lock')
  if (nowMs - (statOf(path)?.mtimeMs ?? nowMs) <= MADE_WITHIN_MS) return false
  if (!isThere(lock)) return true
  try {
    using _held = await new FileLock(lock).hold(0)
    return true
  } catch (error) {
    // Held, or removed by its owner since we looked.
    if (error instanceof SkeinError || !isThere(lock)) return false
    throw error
  }
}

/** Also what a program has made read-only, as some caches are. */
function removeTree(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch {
    makeWritable(path)
    rmSync(path, { recursive: true, force: true, maxRetries: 3 })
  }
}

function makeWritable(path: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return
  chmodSync(path, 0o700)
  for (const name of entriesIn(path)) makeWritable(join(path, name))
}
