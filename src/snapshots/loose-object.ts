import { createHash } from 'node:crypto'
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { inDirectory, temporaryName } from '../disk/index.js'
import { type NewObject, type ObjectKind, writePack } from './small-pack.js'

export interface TreeEntry {
  mode: '40000' | '100644'
  /** Without a slash; ASCII. */
  name: string
  oid: string
}

/** Whoever takes objects and says their names. */
export interface TreeWriter {
  readonly hashBytes: 20 | 32
  readonly format: 'sha1' | 'sha256'
  write(kind: ObjectKind, content: Buffer): string
}

/** Fewer objects than this are loose files. */
const FEW = 3

/** Writes small objects into a store without starting git: a snapshot makes a few of them, and each git process costs some milliseconds. */
export class LooseObjects implements TreeWriter {
  #held: Map<string, NewObject> | undefined

  constructor(
    private readonly store: string,
    readonly format: 'sha1' | 'sha256',
  ) {}

  get hashBytes(): 20 | 32 {
    return this.format === 'sha256' ? 32 : 20
  }

  /** From now on objects stay in memory until `flush` writes them together. Nothing on the disk may name one before. */
  hold(): void {
    this.#held ??= new Map()
  }

  /** Writes what is held: several objects as one pack, unless nobody would ever repack it. */
  flush({ mayPack }: { mayPack: boolean }): void {
    const held = [...(this.#held?.values() ?? [])]
    this.#held = undefined
    if (mayPack && held.length >= FEW) writePack(this.store, held, this.format)
    else for (const one of held) this.#writeLoose(one)
  }

  blob(content: string | Buffer): string {
    return this.write('blob', Buffer.from(content))
  }

  tree(entries: readonly TreeEntry[]): string {
    const name = ({ mode, name: own }: TreeEntry): string => (mode === '40000' ? `${own}/` : own)
    const sorted = [...entries].sort((a, b) => (name(a) < name(b) ? -1 : 1))
    const parts = sorted.flatMap(({ mode, name: own, oid }) => [
      Buffer.from(`${mode} ${own}\0`),
      Buffer.from(oid, 'hex'),
    ])
    return this.write('tree', Buffer.concat(parts))
  }

  /** A commit without a predecessor: each snapshot can be removed without the others. */
  commit(tree: string, message: string, atMs: number): string {
    const who = `skein <skein@localhost> ${Math.floor(atMs / 1000)} +0000`
    return this.write('commit', Buffer.from(`tree ${tree}\nauthor ${who}\ncommitter ${who}\n\n${message}\n`))
  }

  write(kind: ObjectKind, content: Buffer): string {
    const oid = this.oidOf(kind, content)
    if (this.#held?.has(oid) || existsSync(this.#pathOf(oid))) return oid
    if (this.#held) this.#held.set(oid, { oid, kind, content })
    else this.#writeLoose({ oid, kind, content })
    return oid
  }

  oidOf(kind: ObjectKind, content: Buffer): string {
    return createHash(this.format).update(headOf(kind, content)).update(content).digest('hex')
  }

  #pathOf(oid: string): string {
    return join(this.store, 'objects', oid.slice(0, 2), oid.slice(2))
  }

  #writeLoose({ oid, kind, content }: NewObject): void {
    const path = this.#pathOf(oid)
    const temporary = temporaryName(path)
    try {
      const bytes = deflateSync(Buffer.concat([Buffer.from(headOf(kind, content)), content]), { level: 1 })
      inDirectory(path, () => writeFileSync(temporary, bytes, { mode: 0o400, flag: 'wx' }))
      renameSync(temporary, path)
    } catch (error) {
      rmSync(temporary, { force: true })
      throw error
    }
  }
}

const headOf = (kind: ObjectKind, content: Buffer): string => `${kind} ${content.length}\0`
