import { existsSync, linkSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { entriesIn, guardedText, makeDirectory, textIn, writeAtomic } from '../disk/index.js'
import { readJson } from '../model/index.js'

/** Which object files of the user's repository a store holds by a second name. */
interface Pins {
  v: 1
  /** Names of packs without their endings. */
  packs: string[]
  /** When each directory of loose objects was last changed, as it was read. */
  loose: Record<string, number>
  /** After a purge: the user's object files may have what was erased, so they are only borrowed. */
  isOff?: true
}

export interface Pinned {
  /** False when the store is on another file system, where a file cannot have a second name. */
  isHeld: boolean
  /** Packs that the user's repository no longer has: only this store still keeps them on the disk. */
  orphans: string[]
}

/** A directory that changed this recently may change again without another time of change. */
const SETTLED_MS = 3_000

/**
 * Gives the user's object files a second name in the store, as `git clone --local` does: whatever the user's gc removes later, the
 * snapshots keep. This costs neither space nor time. Packs are marked to be left alone by our own repacking.
 */
export function pinObjects(store: string, commonDirectory: string, nowMs: number): Pinned {
  const path = join(store, 'skein', 'pins.json')
  const before = (readJson(textIn(path) ?? '') as Pins | undefined) ?? { v: 1, packs: [], loose: {} }
  if (before.isOff) return { isHeld: false, orphans: [] }
  const after: Pins = { v: 1, packs: [...before.packs], loose: { ...before.loose } }
  const present = new Set<string>()
  let isHeld = true
  for (const objects of objectDirectories(join(commonDirectory, 'objects'))) {
    isHeld &&= pinPacks(objects, store, after, present) && pinLoose(objects, store, after, nowMs)
  }
  if (JSON.stringify(after) !== JSON.stringify(before)) writeAtomic(path, JSON.stringify(after), { durable: false })
  return { isHeld, orphans: after.packs.filter((name) => !present.has(name)) }
}

/** The object directory itself, and those that it borrows from. */
function objectDirectories(objects: string, seen: Set<string> = new Set()): string[] {
  if (seen.has(objects) || seen.size > 10) return []
  seen.add(objects)
  const borrowed = (guardedText(join(objects, 'info', 'alternates'), 1_000_000) ?? '')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  return [objects, ...borrowed.flatMap((line) => objectDirectories(resolve(objects, line), seen))]
}

function pinPacks(objects: string, store: string, pins: Pins, present: Set<string>): boolean {
  const names = entriesIn(join(objects, 'pack'))
  for (const index of names.filter((name) => /^pack-[0-9a-f]{40,64}\.idx$/.test(name))) {
    const name = index.slice(0, -4)
    if (!names.includes(`${name}.pack`)) continue
    present.add(name)
    const target = join(store, 'objects', 'pack', name)
    if (pins.packs.includes(name) || existsSync(`${target}.idx`)) continue
    // The index comes last: git looks for it, and must then find the pack and its mark.
    if (!link(join(objects, 'pack', `${name}.pack`), `${target}.pack`)) return false
    writeFileSync(`${target}.keep`, '', { mode: 0o600 })
    if (names.includes(`${name}.rev`)) link(join(objects, 'pack', `${name}.rev`), `${target}.rev`)
    if (!link(join(objects, 'pack', index), `${target}.idx`)) return false
    pins.packs.push(name)
  }
  return true
}

function pinLoose(objects: string, store: string, pins: Pins, nowMs: number): boolean {
  for (const fan of entriesIn(objects)) {
    if (!/^[0-9a-f]{2}$/.test(fan)) continue
    const directory = join(objects, fan)
    const { mtimeMs } = statSync(directory, { throwIfNoEntry: false }) ?? { mtimeMs: 0 }
    if (pins.loose[directory] === mtimeMs) continue
    makeDirectory(join(store, 'objects', fan))
    for (const name of entriesIn(directory)) {
      if (!/^[0-9a-f]{38,62}$/.test(name)) continue
      if (!link(join(directory, name), join(store, 'objects', fan, name))) return false
    }
    if (nowMs - mtimeMs > SETTLED_MS) pins.loose[directory] = mtimeMs
    else delete pins.loose[directory]
  }
  return true
}

/** False when the system allows no second name. A file that is gone meanwhile, or already has its second name, is no trouble. */
function link(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' || code === 'ENOENT') return true
    if (code === 'EXDEV' || code === 'EPERM' || code === 'EMLINK' || code === 'EACCES' || code === 'ENOTSUP')
      return false
    throw error
  }
}

/** Forgets packs that only this store still has, so that repacking may take from them what snapshots need and drop the rest. */
export function unpinPacks(store: string, names: readonly string[]): void {
  const path = join(store, 'skein', 'pins.json')
  const pins = readJson(textIn(path) ?? '') as Pins | undefined
  if (!pins || names.length === 0) return
  for (const name of names) rmSync(join(store, 'objects', 'pack', `${name}.keep`), { force: true })
  const packs = pins.packs.filter((name) => !names.includes(name))
  writeAtomic(path, JSON.stringify({ ...pins, packs }), { durable: false })
}
