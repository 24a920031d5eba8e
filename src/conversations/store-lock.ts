import { AsyncLocalStorage } from 'node:async_hooks'
import { mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { explainDiskError } from '../disk/index.js'
import { SkeinError } from '../model/index.js'
import { describeHolder, type Held, LockFile, type LockOptions } from './lock-file.js'

/** The stores this chain of calls has locked already: saving inside a locked section must not wait for itself. */
const holding = new AsyncLocalStorage<ReadonlySet<string>>()
/** The last one in line for each store in this process: neighbours queue here instead of polling a file. */
const lines = new Map<string, Promise<void>>()

/** Runs `body` while no other writer, in any process, may change the store. */
export async function withStoreLock<T>(
  storePath: string,
  body: () => T | Promise<T>,
  options: LockOptions = {},
): Promise<T> {
  const path = resolve(storePath)
  const held = holding.getStore()
  if (held?.has(path)) return body()
  const before = lines.get(path)
  let leave = () => {}
  const done = new Promise<void>((resolveDone) => {
    leave = resolveDone
  })
  const mine = (before ?? Promise.resolve()).then(() => done)
  lines.set(path, mine)
  try {
    const startedAt = performance.now()
    const timeoutMs = options.timeoutMs ?? 10_000
    if (before) await atMost(before, timeoutMs, path)
    const leftMs = Math.max(0, timeoutMs - (performance.now() - startedAt))
    using _lock = await take(path, { ...options, timeoutMs: leftMs })
    return await holding.run(new Set([...(held ?? []), path]), async () => body())
  } finally {
    leave()
    if (lines.get(path) === mine) lines.delete(path)
  }
}

async function take(path: string, options: LockOptions): Promise<LockFile> {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  } catch (error) {
    throw explainDiskError(error, dirname(path))
  }
  const taken = await LockFile.wait(`${path}.lock`, options)
  if (taken instanceof LockFile) return taken
  throw locked(path, taken)
}

async function atMost(wait: Promise<void>, timeoutMs: number, path: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(locked(path, undefined)), timeoutMs)
  })
  try {
    await Promise.race([wait, late])
  } finally {
    clearTimeout(timer)
  }
}

const locked = (path: string, held: Held | undefined): SkeinError =>
  new SkeinError(
    'store-locked',
    `${path} is being changed by ${held ? describeHolder(held) : 'another task of this process'}`,
    held?.life === 'unknown'
      ? `If nothing uses it any more, delete ${path}.lock`
      : 'Wait for it to end, then try again',
  )
