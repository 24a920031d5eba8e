import { closeSync, readFileSync, readSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn, openPlain, statIfThere, writeAtomic } from '../disk/index.js'
import { checkedLine, parseChecked } from './checked-line.js'

/** One sealed log in a pack: what is in its own file elsewhere. */
export interface Packed {
  tool: string
  name: string
  bytes: Buffer
}

interface PackedPlace {
  tool: string
  name: string
  /** From the end of the first line on. */
  at: number
  length: number
}

interface PackHeader {
  kind: 'pack'
  v: number
  entries: PackedPlace[]
}

/** Where a packed log is. */
export interface Place {
  pack: string
  at: number
  length: number
}

const VERSION = 1
const PACK_NAME = /^[0-9a-f]+\.pack$/
const FIRST_READ = 64 * 1024

/**
 * Many sealed logs in one file: reading a year of logs for the first time would else make thousands of files and wait for the disk
 * thousands of times. The first line says where each of them is. A pack is only ever replaced as a whole.
 */
export class Packs {
  #places = new Map<string, Place>()
  #unreadable: string[] = []
  /** Which files that was read from. */
  #seen: string | undefined

  constructor(private readonly directory: string) {}

  /** Names of packs whose first line cannot be read. */
  get unreadable(): readonly string[] {
    return this.#unreadable
  }

  /** Looks again which packs there are; if nothing has changed, that is a stat for each. */
  refresh(): void {
    const packs = packsIn(this.directory)
    const seen = packs.map((pack) => `${pack} ${stampOf(join(this.directory, pack))}`).join('\n')
    if (seen === this.#seen) return
    const places = new Map<string, Place>()
    const unreadable: string[] = []
    for (const pack of packs) {
      const header = this.#header(pack)
      if (!header) unreadable.push(pack)
      for (const { tool, name, at, length } of header?.entries ?? []) {
        places.set(`${tool}/${name}`, { pack, at: at + (header?.size ?? 0), length })
      }
    }
    this.#places = places
    this.#unreadable = unreadable
    this.#seen = seen
  }

  names(): Iterable<string> {
    this.#load()
    return this.#places.keys()
  }

  place(tool: string, name: string): Place | undefined {
    this.#load()
    return this.#places.get(`${tool}/${name}`)
  }

  /** Its first bytes, or all of it. */
  read({ pack, at, length }: Place, atMost = length): Buffer | undefined {
    const file = openPlain(join(this.directory, pack))
    if (file === undefined) return undefined
    try {
      const bytes = Buffer.alloc(Math.min(length, atMost))
      const read = readSync(file, bytes, 0, bytes.length, at)
      return read === bytes.length ? bytes : undefined
    } finally {
      closeSync(file)
    }
  }

  /** On the disk when this returns. */
  write(pack: string, entries: readonly Packed[]): void {
    const path = join(this.directory, pack)
    if (entries.length === 0) rmSync(path, { force: true })
    else writeAtomic(path, packBytes(entries), { durable: true })
    this.refresh()
  }

  /** Takes logs out of their packs. */
  drop(isUnwanted: (tool: string, name: string) => boolean): void {
    this.refresh()
    if (![...this.#places.keys()].some((path) => isUnwanted(...splitAt(path)))) return
    for (const pack of packsIn(this.directory)) {
      const path = join(this.directory, pack)
      const header = this.#header(pack)
      if (!header?.entries.some(({ tool, name }) => isUnwanted(tool, name))) continue
      const bytes = readFileSync(path)
      const kept = header.entries.filter(({ tool, name }) => !isUnwanted(tool, name))
      const from = (at: number): number => header.size + at
      this.write(
        pack,
        kept.map(({ tool, name, at, length }) => ({ tool, name, bytes: bytes.subarray(from(at), from(at) + length) })),
      )
    }
  }

  #load(): void {
    if (this.#seen === undefined) this.refresh()
  }

  #header(pack: string): (PackHeader & { size: number }) | undefined {
    const file = openPlain(join(this.directory, pack))
    if (file === undefined) return undefined
    try {
      for (let length = FIRST_READ; ; length *= 8) {
        const bytes = Buffer.alloc(length)
        const read = readSync(file, bytes, 0, length, 0)
        const end = bytes.subarray(0, read).indexOf(0x0a)
        if (end !== -1) {
          const header = parseChecked(bytes.toString('utf8', 0, end))
          const isOurs = header?.kind === 'pack' && Number(header.v) <= VERSION
          return isOurs ? { ...(header as unknown as PackHeader), size: end + 1 } : undefined
        }
        if (read < length) return undefined
      }
    } finally {
      closeSync(file)
    }
  }
}

function packBytes(entries: readonly Packed[]): Buffer {
  let at = 0
  const places = entries.map(({ tool, name, bytes }) => {
    const place = { tool, name, at, length: bytes.length }
    at += bytes.length
    return place
  })
  const header = checkedLine({ kind: 'pack', v: VERSION, entries: places } satisfies PackHeader)
  return Buffer.concat([Buffer.from(header), ...entries.map(({ bytes }) => bytes)])
}

function splitAt(path: string): [tool: string, name: string] {
  const slash = path.indexOf('/')
  return [path.slice(0, slash), path.slice(slash + 1)]
}

function stampOf(path: string): string {
  const stat = statIfThere(path)
  return `${stat?.ino} ${stat?.size} ${stat?.mtimeMs}`
}

const packsIn = (directory: string): string[] =>
  namesIn(directory)
    .filter((name) => PACK_NAME.test(name))
    .sort()
