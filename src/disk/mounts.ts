import { lstatSync, readFileSync, readlinkSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { SkeinError } from '../model/index.js'
import { doesAnswer } from './mount-probe.js'
import { UnsuitableFile } from './unsuitable-file.js'

/** File systems that another machine or another program answers for: when it is gone, whoever asks waits for ever. */
const REMOTE =
  /^(nfs\d?|cifs|smb\d?|smbfs|fuse(\..+)?|9p|afs|ceph|lustre|gfs2?|ocfs2|ncpfs|coda|davfs|autofs|virtiofs)$/
/** The table changes when something is mounted; reading it takes a tenth of a millisecond. */
const TABLE_MS = 1_000
/** No path has more; the system itself gives up at 40. */
const MOST_LINKS = 40

/** The system takes no longer ones. */
const LONGEST_PATH = 4_096

interface Table {
  readonly readMs: number
  readonly remote: ReadonlySet<string>
  /** Paths that were followed since the table was read. */
  readonly places: Map<string, Place>
}

let table: Table | undefined

/**
 * The mount on the way to a path whose file system does not answer: an NFS server that is gone, a FUSE program that hangs. Any look at
 * such a path would never return. Local paths cost a lookup in a table; on a machine without remote mounts, nothing.
 */
export function deadMountOn(path: string): string | undefined {
  const mounted = currentTable()
  if (mounted.remote.size === 0 || path.length > LONGEST_PATH) return undefined
  const full = isAbsolute(path) ? resolve(path) : absolute(path)
  return full === undefined ? undefined : stuckAt(placeOf(full, mounted))
}

/** Throws for a path that cannot be looked at, in words for its user. Asked before every look at what is not ours. */
export function refuseDead(path: string): void {
  const mount = deadMountOn(path)
  if (mount === undefined) return
  throw new UnsuitableFile(path, notAnswering(mount), nextFor(mount))
}

/** The same for a directory in which something is going to be run: starting a program there waits as well. */
export function refuseDeadDirectory(path: string): void {
  const mount = deadMountOn(path)
  if (mount !== undefined) throw new SkeinError('timed-out', `${path} is ${notAnswering(mount)}`, nextFor(mount))
}

/** In words that fit after "it is". */
export const notAnswering = (mount: string): string => `on a file system that does not answer (${mount})`
const nextFor = (mount: string): string => `Bring it back, or take it away: umount -l ${mount}`

function currentTable(): Table {
  const now = performance.now()
  if (!table || now - table.readMs > TABLE_MS) table = { readMs: now, remote: remoteMounts(), places: new Map() }
  return table
}

/** Not the root: without it nothing works, this program included. Linux only; elsewhere none are found. */
function remoteMounts(): Set<string> {
  const found = new Set<string>()
  for (const line of mountLines()) {
    const [left = '', right = ''] = line.split(' - ')
    const point = left.split(' ')[4]
    if (point !== undefined && point !== '/' && REMOTE.test(right.split(' ')[0] ?? '')) found.add(unescaped(point))
  }
  return found
}

function mountLines(): string[] {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
  } catch {
    return []
  }
}

/** The kernel writes spaces and such in octal. */
const unescaped = (text: string): string => {
  if (!text.includes('\\')) return text
  const bytes = text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

function absolute(path: string): string | undefined {
  try {
    return resolve(path)
  } catch {
    return undefined // the directory that this process was started in is gone
  }
}

const stuckAt = ({ mounts }: Place): string | undefined => mounts.find((mount) => !doesAnswer(mount))

function linkAt(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined
  } catch {
    return undefined // not ours to look at
  }
}

/** The same path without links, as far as it could be followed, and the remote mounts that lead there. */
interface Place {
  readonly real: string
  readonly mounts: readonly string[]
}

/** Goes along a path as the system would: name by name, link by link, and never into a mount that does not answer. */
function placeOf(path: string, mounted: Table, links = 0): Place {
  const { remote, places } = mounted
  const known = places.get(path)
  if (known) return known
  const above = dirname(path)
  if (above === path) return { real: path, mounts: [] }
  const parent = placeOf(above, mounted, links)
  const place = stuckAt(parent) !== undefined ? parent : step(parent, basename(path))
  places.set(path, place)
  return place

  function step({ real, mounts }: Place, name: string): Place {
    const full = join(real, name)
    if (remote.has(full)) return { real: full, mounts: [...mounts, full] }
    const target = links < MOST_LINKS ? linkAt(full) : undefined
    return target === undefined ? { real: full, mounts } : placeOf(resolve(real, target), mounted, links + 1)
  }
}
