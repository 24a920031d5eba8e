import { createHash } from 'node:crypto'
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { makeDirectory, temporaryName } from '../disk/index.js'

export interface TreeEntry {
  mode: '40000' | '100644'
  /** Without a slash; ASCII. */
  name: string
  oid: string
}

type ObjectKind = 'blob' | 'tree' | 'commit'

/** Writes small objects into a store without starting git: a snapshot makes a few of them, and each git process costs some milliseconds. */
export class LooseObjects {
  constructor(
    private readonly store: string,
    readonly format: 'sha1' | 'sha256',
  ) {}

  get hashBytes(): 20 | 32 {
    return this.format === 'sha256' ? 32 : 20
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
    const bytes = Buffer.concat([Buffer.from(`${kind} ${content.length}\0`), content])
    const oid = createHash(this.format).update(bytes).digest('hex')
    const directory = join(this.store, 'objects', oid.slice(0, 2))
    const path = join(directory, oid.slice(2))
    if (existsSync(path)) return oid
    makeDirectory(directory)
    const temporary = temporaryName(path)
    try {
      writeFileSync(temporary, deflateSync(bytes, { level: 1 }), { mode: 0o400, flag: 'wx' })
      renameSync(temporary, path)
    } catch (error) {
      rmSync(temporary, { force: true })
      throw error
    }
    return oid
  }
}
