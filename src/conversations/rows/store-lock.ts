import { AsyncLocalStorage } from 'node:async_hooks'
import { dirname, resolve } from 'node:path'
import { explainDiskError, makeDirectory } from '../../disk/index.js'
import { SkeinError } from '../../model/index.js'
import { Line } from '../transcript/line.js'
import { describeHolder, type Held, LockFile, type LockOptions } from './lock-file.js'

/** A locked section: what is called inside takes turns in its line instead of waiting for the lock, which would be for ever. */
interface Section {
  line: Line
  /** A task that was started inside and outlives the section must lock like everybody else. */
  isOpen: boolean
}

const sections = new AsyncLocalStorage<ReadonlyMap<string, Section>>()
/** For each store the tasks of this process queue here, and only the first polls the file. */
const lines = new Map<string, Line>()

/** Runs `body` while no other writer, in any process, may change the store. */
export async function withStoreLock<T>(
  storePath: string,
  body: () => T | Promise<T>,
  options: LockOptions = {},
): Promise<T> {
  const path = resolve(storePath)
  const around = sections.getStore()?.get(path)
  const line = around?.isOpen ? around.line : lineOf(path)
  const deadline = performance.now() + (options.timeoutMs ?? 10_000)
  const { turn, leave } = line.join()
  try {
    await before(deadline, turn, path)
    if (around?.isOpen) return await inSection(path, body)
    const leftMs = Math.max(0, deadline - performance.now())
    using _lock = await take(path, { ...options, timeoutMs: leftMs })
    return await inSection(path, body)
  } finally {
    leave()
    if (lines.get(path) === line && line.isEmpty) lines.delete(path)
  }
}

function lineOf(path: string): Line {
  const known = lines.get(path) ?? new Line()
  lines.set(path, known)
  return known
}

async function inSection<T>(path: string, body: () => T | Promise<T>): Promise<T> {
  const section: Section = { line: new Line(), isOpen: true }
  try {
    return await sections.run(new Map([...(sections.getStore() ?? []), [path, section]]), async () => body())
  } finally {
    section.isOpen = false
  }
}

async function take(path: string, options: LockOptions): Promise<LockFile> {
  try {
    makeDirectory(dirname(path))
  } catch (error) {
    throw explainDiskError(error, dirname(path))
  }
  const taken = await LockFile.wait(`${path}.lock`, options)
  if (taken instanceof LockFile) return taken
  throw locked(path, taken)
}

async function before(deadline: number, turn: Promise<void>, path: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(locked(path, undefined)), Math.max(0, deadline - performance.now()))
  })
  try {
    await Promise.race([turn, late])
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
