import { createHash } from 'node:crypto'
import { closeSync, fstatSync, fsyncSync, linkSync, openSync, readSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import {
  explainDiskError,
  namesIn,
  openGuarded,
  statOf,
  syncPath,
  temporaryName,
  UnsuitableFile,
  writeFully,
} from '../../disk/index.js'
import { readJson, SkeinError } from '../../model/index.js'
import { isSeal, Key, newSeal, type Seal, TAG_BYTES } from './sealing.js'

/**
 * The file of a pack: one line of JSON, a body, and the SHA-256 of both as 32 bytes. The body is one line of JSON, which names every
 * member with its length and SHA-256, and then the members, one behind the other. A sealed body is encrypted as a whole, with its tag
 * behind it. Nothing is compressed, so that no member is larger than the file.
 */
const FORMAT = 'skein-pack'
export const PACK_VERSION = 1
const HASH_BYTES = 32
const MOST_HEADER = 4_096
const MOST_LIST = 64 * 1024 * 1024
const MOST_MEMBERS = 4_096
const PIECE_BYTES = 1024 * 1024

/** Something to be carried. Its bytes are asked for once, after its length and hash. */
export interface Member {
  name: string
  bytes: number
  sha256: string
  read(): Iterable<Buffer>
}

interface ListedMember {
  name: string
  bytes: number
  sha256: string
}

export const memberOf = (name: string, content: string | Buffer): Member => {
  const bytes = Buffer.from(content)
  return { name, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex'), read: () => [bytes] }
}

/** A member that is in a file of ours. */
export function memberIn(name: string, path: string): Member {
  const file = openSync(path, 'r')
  try {
    const hash = createHash('sha256')
    let bytes = 0
    for (const piece of piecesOf(file, 0, fstatSync(file).size)) {
      hash.update(piece)
      bytes += piece.length
    }
    return { name, bytes, sha256: hash.digest('hex'), read: () => fileIn(path) }
  } finally {
    closeSync(file)
  }
}

function* fileIn(path: string): Iterable<Buffer> {
  const file = openSync(path, 'r')
  try {
    yield* piecesOf(file, 0, fstatSync(file).size)
  } finally {
    closeSync(file)
  }
}

function* piecesOf(file: number, from: number, to: number): Iterable<Buffer> {
  for (let at = from; at < to; ) {
    const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, to - at))
    const got = readSync(file, piece, 0, piece.length, at)
    if (got === 0) return
    yield piece.subarray(0, got)
    at += got
  }
}

/** Writes a pack that only its user can read, under its name once it is whole and on the disk. A file that is there is refused. */
export async function writePack(
  path: string,
  contents: object,
  members: readonly Member[],
  { passphrase, replace, nowMs }: { passphrase?: string; replace: boolean; nowMs: number },
): Promise<{ bytes: number; sha256: string }> {
  refuseTaken(path, replace)
  const seal = passphrase === undefined ? undefined : newSeal()
  const key = seal && passphrase !== undefined ? await Key.of(seal, passphrase) : undefined
  const temporary = temporaryName(path)
  try {
    removeOwnRemains(path, nowMs)
    const file = openSync(temporary, 'wx', 0o600)
    const written = { bytes: 0, sha256: '' }
    try {
      const hash = createHash('sha256')
      const put = (bytes: Buffer): void => {
        hash.update(bytes)
        writeFully(file, bytes)
        written.bytes += bytes.length
      }
      const header = lineOf({ format: FORMAT, v: PACK_VERSION, ...(seal ? { seal } : {}) })
      put(header)
      const cipher = key?.cipher(header)
      const add = (bytes: Buffer): void => put(cipher ? cipher.update(bytes) : bytes)
      add(lineOf({ contents, members: members.map(({ name, bytes, sha256 }) => ({ name, bytes, sha256 })) }))
      for (const member of members) for (const piece of checked(member, member.read())) add(piece)
      if (cipher) {
        put(cipher.final())
        put(cipher.getAuthTag())
      }
      const digest = hash.digest()
      writeFully(file, digest)
      fsyncSync(file)
      written.bytes += digest.length
      written.sha256 = digest.toString('hex')
    } finally {
      closeSync(file)
    }
    if (replace) renameSync(temporary, path)
    else linkSync(temporary, path)
    syncPath(dirname(path))
    return written
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw taken(path)
    throw explainDiskError(error, path)
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** Longer than any pack takes to be written. */
const REMAINS_MS = 24 * 3_600_000

/** What killed processes left of this very file. The directory is the user's: nothing else in it is ours. */
function removeOwnRemains(path: string, nowMs: number): void {
  const begin = `${basename(path)}.tmp-`
  for (const name of namesIn(dirname(path))) {
    if (!name.startsWith(begin) || !/^\d+$/.test(name.slice(begin.length))) continue
    const left = join(dirname(path), name)
    if (nowMs - (statOf(left)?.mtimeMs ?? nowMs) > REMAINS_MS) rmSync(left, { force: true })
  }
}

/** The same bytes, which must be those that were announced. */
function* checked({ name, bytes, sha256 }: ListedMember, pieces: Iterable<Buffer>): Iterable<Buffer> {
  const hash = createHash('sha256')
  let got = 0
  for (const piece of pieces) {
    hash.update(piece)
    got += piece.length
    yield piece
  }
  if (got !== bytes || hash.digest('hex') !== sha256) throw new Error(`the member ${name} has changed`)
}

const lineOf = (value: object): Buffer => Buffer.from(`${JSON.stringify(value)}\n`)

export function refuseTaken(path: string, replace: boolean): void {
  const there = statOf(path)
  if (there && !(replace && there.isFile())) throw taken(path)
  if (!statOf(dirname(path))?.isDirectory())
    throw new SkeinError('bad-input', `${dirname(path)} is not a directory`, 'Name a file in a directory that exists')
}

const taken = (path: string): SkeinError =>
  new SkeinError('bad-input', `${path} already exists`, 'Use another name, or replace it: --force')

/** A pack that was checked to its last byte. */
export class PackFile implements Disposable {
  private constructor(
    private readonly path: string,
    private readonly file: number,
    private readonly body: Body,
    private readonly list: List,
  ) {}

  /** Refuses what is damaged, cut short, of a later version, or sealed with another passphrase. The passphrase is asked for if it is sealed. */
  static async open(path: string, passphrase: () => Promise<string> | string): Promise<PackFile> {
    const file = openNamed(path)
    try {
      const { size } = fstatSync(file)
      const { header, seal } = headerOf(file, size, path)
      const end = size - HASH_BYTES
      refuseChanged(file, end, path)
      const key = seal && (await Key.of(seal, await passphrase()))
      const body = new Body(file, header, end, key)
      if (key) body.authenticate(path)
      const list = listOf(body, path)
      const pack = new PackFile(path, file, body, list)
      for (const { name } of list.members) for (const _piece of pack.member(name));
      return pack
    } catch (error) {
      closeSync(file)
      throw error
    }
  }

  get contents(): unknown {
    return this.list.contents
  }

  has(name: string): boolean {
    return this.list.members.some((member) => member.name === name)
  }

  /** The bytes of a member. The end is reached only if they are the ones that were announced. */
  *member(name: string): Iterable<Buffer> {
    let at = this.list.bytes
    for (const member of this.list.members) {
      if (member.name === name) {
        const hash = createHash('sha256')
        for (const piece of this.body.pieces(at, at + member.bytes)) {
          hash.update(piece)
          yield piece
        }
        if (hash.digest('hex') !== member.sha256) throw damaged(this.path, `the checksum of ${name} differs`)
        return
      }
      at += member.bytes
    }
    throw damaged(this.path, `it has no ${name}`)
  }

  text(name: string, mostBytes: number): string {
    const pieces: Buffer[] = []
    let got = 0
    for (const piece of this.member(name)) {
      got += piece.length
      if (got > mostBytes) throw damaged(this.path, `${name} is larger than ${mostBytes} bytes`)
      pieces.push(piece)
    }
    return Buffer.concat(pieces).toString('utf8')
  }

  [Symbol.dispose](): void {
    closeSync(this.file)
  }
}

/** What is between the header and the checksum, as it was before it was sealed. */
class Body {
  readonly bytes: number
  readonly #end: number

  constructor(
    private readonly file: number,
    private readonly header: Buffer,
    end: number,
    private readonly key: Key | undefined,
  ) {
    this.#end = key ? end - TAG_BYTES : end
    this.bytes = this.#end - header.length
  }

  /** All of it, before any of it is believed. */
  authenticate(path: string): void {
    const wrong = new SkeinError('bad-input', `The passphrase does not open ${path}`, 'Try again with another one')
    if (this.bytes < 0) throw wrong
    const decipher = this.#decipher()
    for (const piece of piecesOf(this.file, this.header.length, this.#end)) decipher?.update(piece)
    try {
      decipher?.final()
    } catch {
      throw wrong
    }
  }

  *pieces(from: number, to: number): Iterable<Buffer> {
    const { length } = this.header
    if (!this.key) return yield* piecesOf(this.file, length + from, length + to)
    const decipher = this.#decipher()
    let at = 0
    for (const sealed of piecesOf(this.file, length, length + to)) {
      const piece = decipher?.update(sealed) ?? sealed
      if (at + piece.length > from) yield piece.subarray(Math.max(0, from - at))
      at += piece.length
    }
  }

  #decipher() {
    const tag = Buffer.alloc(TAG_BYTES)
    readSync(this.file, tag, 0, TAG_BYTES, this.#end)
    return this.key?.decipher(this.header, tag)
  }
}

interface List {
  contents: unknown
  members: ListedMember[]
  /** How long the line itself is. */
  bytes: number
}

function listOf(body: Body, path: string): List {
  const pieces: Buffer[] = []
  let got = 0
  for (const piece of body.pieces(0, Math.min(body.bytes, MOST_LIST))) {
    const end = piece.indexOf('\n')
    pieces.push(end < 0 ? piece : piece.subarray(0, end))
    got += end < 0 ? piece.length : end + 1
    if (end >= 0) break
  }
  const value = readJson(Buffer.concat(pieces).toString('utf8')) as Partial<List> | undefined
  const members = Array.isArray(value?.members) ? value.members : undefined
  if (!members || members.length > MOST_MEMBERS || !members.every(isListed)) throw damaged(path, 'it has no list')
  const sum = members.reduce((all, one) => all + one.bytes, got)
  if (sum !== body.bytes) throw damaged(path, 'its members are longer or shorter than the file')
  if (new Set(members.map(({ name }) => name)).size !== members.length) throw damaged(path, 'a member is there twice')
  return { contents: value?.contents, members, bytes: got }
}

function isListed(value: unknown): value is ListedMember {
  const { name, bytes, sha256 } = (typeof value === 'object' && value !== null ? value : {}) as Partial<ListedMember>
  return (
    typeof name === 'string' &&
    /^[a-z0-9][a-z0-9.-]{0,63}$/.test(name) &&
    Number.isSafeInteger(bytes) &&
    (bytes ?? -1) >= 0 &&
    typeof sha256 === 'string' &&
    /^[0-9a-f]{64}$/.test(sha256)
  )
}

function headerOf(file: number, size: number, path: string): { header: Buffer; seal?: Seal } {
  const head = Buffer.alloc(Math.min(size, MOST_HEADER))
  readSync(file, head, 0, head.length, 0)
  const end = head.indexOf('\n')
  const value = end < 0 ? undefined : (readJson(head.toString('utf8', 0, end)) as Record<string, unknown> | undefined)
  if (typeof value !== 'object' || value === null || value.format !== FORMAT) throw notOurs(path)
  const { v, seal } = value
  if (typeof v === 'number' && v > PACK_VERSION)
    throw new SkeinError('newer-format', `${path} was made by a later version of Skein`, 'Update Skein, then try again')
  if (v !== PACK_VERSION || (seal !== undefined && !isSeal(seal))) throw damaged(path, 'its first line is not whole')
  return { header: head.subarray(0, end + 1), ...(seal === undefined ? {} : { seal }) }
}

function refuseChanged(file: number, end: number, path: string): void {
  if (end < 0) throw damaged(path, 'it is cut short')
  const hash = createHash('sha256')
  for (const piece of piecesOf(file, 0, end)) hash.update(piece)
  const wanted = Buffer.alloc(HASH_BYTES)
  readSync(file, wanted, 0, HASH_BYTES, end)
  if (!hash.digest().equals(wanted)) throw damaged(path, 'its checksum differs')
}

function openNamed(path: string): number {
  try {
    return openGuarded(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const isUnsuitable = error instanceof UnsuitableFile
    if (!isUnsuitable && code === undefined) throw error
    const why = isUnsuitable ? error.message : `Cannot read ${path} (${code})`
    throw new SkeinError('bad-input', why, 'Name a file that skein pack wrote', { cause: error })
  }
}

const notOurs = (path: string): SkeinError =>
  new SkeinError('bad-input', `${path} is not a pack`, 'Name a file that skein pack wrote')

const damaged = (path: string, because: string): SkeinError =>
  new SkeinError('pack-damaged', `${path} is damaged: ${because}`, 'Copy it again, or pack the session again')
