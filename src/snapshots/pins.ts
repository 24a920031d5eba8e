import { existsSync, linkSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { entriesIn, guardedText, makeDirectory, textIn, writeAtomic } from '../disk/index.js'
import { readJson, shapes } from '../model/index.js'
import type { BareStore } from './bare-store.js'
import type { Git } from './git.js'

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

const { count, flag, isObject, misfit, shape, texts } = shapes
const PINS = shape({ v: count, packs: texts, loose: isObject, 'isOff?': flag })
const PACK_NAME = /^pack-[0-9a-f]{40,64}$/

/** Of a damaged file nobody can tell whether a purge has switched it off: then it is off. */
function pinsIn(path: string): Pins | undefined {
  const text = textIn(path)
  if (text === undefined) return undefined
  const value = readJson(text)
  const isWhole = isObject(value) && misfit(value, PINS) === undefined
  const pins = isWhole ? (value as unknown as Pins) : undefined
  const isSound = pins?.packs.every((name) => PACK_NAME.test(name)) && Object.values(pins.loose).every(count)
  return pins && isSound ? pins : { v: 1, packs: [], loose: {}, isOff: true }
}

/** A directory that changed this recently may change again without another time of change. */
const SETTLED_MS = 3_000

/**
 * Gives the user's object files a second name in the store, as `git clone --local` does: whatever the user's gc removes later, the
 * snapshots keep. This costs neither space nor time. Packs are marked to be left alone by our own repacking.
 */
export function pinObjects(store: string, commonDirectory: string, nowMs: number): 'pinned' | 'elsewhere' | 'off' {
  const path = join(store, 'skein', 'pins.json')
  const before = pinsIn(path) ?? { v: 1, packs: [], loose: {} }
  if (before.isOff) return 'off'
  const after: Pins = { v: 1, packs: [...before.packs], loose: { ...before.loose } }
  let isHeld = true
  for (const objects of objectDirectories(join(commonDirectory, 'objects'))) {
    isHeld &&= pinPacks(objects, store, after) && pinLoose(objects, store, after, nowMs)
  }
  if (JSON.stringify(after) !== JSON.stringify(before)) writeAtomic(path, JSON.stringify(after), { durable: false })
  return isHeld ? 'pinned' : 'elsewhere'
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

function pinPacks(objects: string, store: string, pins: Pins): boolean {
  const names = entriesIn(join(objects, 'pack'))
  for (const index of names.filter((name) => /^pack-[0-9a-f]{40,64}\.idx$/.test(name))) {
    const name = index.slice(0, -4)
    if (!names.includes(`${name}.pack`)) continue
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

/**
 * Forgets packs that the user's repository no longer has, so that repacking may take from them what snapshots need and drop the rest. Without
 * this they would take space for as long as the store exists.
 */
export function unpinOrphans(store: string, commonDirectory: string): void {
  const path = join(store, 'skein', 'pins.json')
  const pins = pinsIn(path)
  if (!pins) return
  const directories = objectDirectories(join(commonDirectory, 'objects'))
  const isThere = (name: string): boolean => directories.some((one) => existsSync(join(one, 'pack', `${name}.pack`)))
  const orphans = pins.packs.filter((name) => !isThere(name))
  for (const name of orphans) rmSync(join(store, 'objects', 'pack', `${name}.keep`), { force: true })
  const packs = pins.packs.filter((name) => !orphans.includes(name))
  if (orphans.length > 0) writeAtomic(path, JSON.stringify({ ...pins, packs }), { durable: false })
}

/** How far back the user's history is copied, and how large a repository may be for that. */
const COPIED_COMMITS = 50
const MOST_COPIED_BYTES = 256 * 1024 * 1024

/**
 * The same for a store on another file system: copies what the user may still rewrite. A large repository is only borrowed from: what the
 * user drops and prunes there is lost.
 */
export async function copyObjects(
  git: Git,
  store: BareStore,
  commonDirectory: string,
  head: string | undefined,
  trees: readonly string[],
): Promise<void> {
  const path = join(store.directory, 'skein', 'copied.json')
  const copied = new Set(oidsIn(readJson(textIn(path) ?? '')))
  const wanted = [...(head === undefined ? [] : [head]), ...trees].filter((oid) => !copied.has(oid))
  if (wanted.length === 0 || packedBytes(commonDirectory) > MOST_COPIED_BYTES) return
  const recent = head === undefined ? '' : await git.text([...store.at(), 'rev-list', `-${COPIED_COMMITS + 1}`, head])
  const boundary = recent.split('\n')[COPIED_COMMITS]
  const known = [...copied, ...(boundary === undefined ? [] : [boundary])]
  const input = [...wanted, '--not', ...known].map((oid) => `${oid}\n`).join('')
  const name = join(store.directory, 'objects', 'pack', 'pack')
  await git.run([...store.at(), 'pack-objects', '--revs', '-q', name], { input })
  // The last ones are enough to tell what is new, and few enough for git to look at each time.
  writeAtomic(path, JSON.stringify([...copied, ...wanted].slice(-20)), { durable: false })
}

const oidsIn = (value: unknown): string[] =>
  (Array.isArray(value) ? value : []).filter((oid) => typeof oid === 'string' && /^[0-9a-f]{40,64}$/.test(oid))

function packedBytes(commonDirectory: string): number {
  const pack = join(commonDirectory, 'objects', 'pack')
  return entriesIn(pack).reduce(
    (sum, name) => sum + (statSync(join(pack, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
}
