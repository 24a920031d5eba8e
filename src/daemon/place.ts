import { chmodSync, lstatSync, rmSync, type Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import { explainDiskError, makeDirectory } from '../disk/index.js'
import { SkeinError } from '../model/index.js'

/** The system's limit for the path of a socket, less the byte that ends it (Linux 108, macOS 104). */
const MAX_SOCKET_BYTES = 103

/** Where the files of one profile's daemon are. They follow from the home alone, so that every process finds the same daemon. */
export interface DaemonPlace {
  readonly directory: string
  /** Held while the daemon lives; the system lets go of it with the process. */
  readonly lock: string
  /** Which process it is, its version, and where it listens. */
  readonly record: string
  readonly log: string
  /** The segment for a status line, kept by the daemon. */
  readonly statusline: string
  /** Which notifications were already sent. */
  readonly notices: string
  readonly socket: string
}

export interface PlaceOptions {
  /** The home's root. */
  root: string
  profile: string
  /** For a socket whose path under the home would be too long. */
  temporary: string
  userId: number | undefined
}

/** All but the socket, whose place may have to be made up. */
export function daemonFiles(root: string, profile: string): Omit<DaemonPlace, 'socket'> {
  const directory = join(root, 'run')
  const file = (ending: string): string => join(directory, `${profile}.${ending}`)
  return {
    directory,
    lock: file('lock'),
    record: file('json'),
    log: file('log'),
    statusline: file('statusline'),
    notices: file('notices.json'),
  }
}

export function daemonPlace({ root, profile, temporary, userId }: PlaceOptions): DaemonPlace {
  const files = daemonFiles(root, profile)
  return { ...files, socket: socketPath(join(files.directory, `${profile}.sock`), { temporary, userId }) }
}

function socketPath(wanted: string, { temporary, userId }: Pick<PlaceOptions, 'temporary' | 'userId'>): string {
  if (Buffer.byteLength(wanted) <= MAX_SOCKET_BYTES) return wanted
  const name = process.getBuiltinModule('node:crypto').createHash('sha256').update(wanted).digest('hex').slice(0, 16)
  const short = join(temporary, `skein-${userId ?? 'user'}-${name}`, 's')
  return Buffer.byteLength(short) <= MAX_SOCKET_BYTES ? short : join('/tmp', `skein-${userId ?? 'user'}-${name}`, 's')
}

/** Makes a directory that only its owner can look into. One that somebody else made is refused: they could listen there. */
export function makePrivate(directory: string, userId: number | undefined): void {
  try {
    makeDirectory(directory)
    const found = lstatSync(directory)
    if (!isOurs(found, userId) || !found.isDirectory()) throw notOurs(directory)
    if ((found.mode & 0o077) !== 0) chmodSync(directory, 0o700)
  } catch (error) {
    throw explainDiskError(error, directory)
  }
}

/** With the directory that was made for it alone. */
export function removeSocket({ directory, socket }: DaemonPlace): void {
  rmSync(socket, { force: true })
  if (dirname(socket) !== directory) rmSync(dirname(socket), { recursive: true, force: true })
}

/** Whether a socket and its directory belong to this user alone: nobody else can have put it there. */
export function isTrusted(socket: string, userId: number | undefined): boolean {
  const found = lstatSync(socket, { throwIfNoEntry: false })
  const around = lstatSync(dirname(socket), { throwIfNoEntry: false })
  if (!found?.isSocket() || !around?.isDirectory()) return false
  return isOurs(found, userId) && isOurs(around, userId) && (around.mode & 0o077) === 0
}

const isOurs = ({ uid }: Stats, userId: number | undefined): boolean => userId === undefined || uid === userId

const notOurs = (directory: string): SkeinError =>
  new SkeinError(
    'home-not-ours',
    `${directory} is not your own directory`,
    'Remove it, or set SKEIN_HOME (or TMPDIR) to a directory of your own',
  )
