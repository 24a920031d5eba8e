import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BareStore } from './bare-store.js'

/** Makes a repository of its own that sees the objects of a store, and by it those of the user. The directory must be there, or its parent. */
export function makeBorrower(directory: string, store: BareStore, head: string, { bare }: { bare: boolean }): void {
  for (const name of ['refs', 'objects', 'objects/info', 'info'])
    mkdirSync(join(directory, name), { mode: 0o700, recursive: true })
  const config = readFileSync(join(store.directory, 'config'), 'utf8')
  writeFileSync(join(directory, 'HEAD'), `${head}\n`)
  writeFileSync(join(directory, 'config'), bare ? config : config.replace('bare = true', 'bare = false'))
  writeFileSync(join(directory, 'objects', 'info', 'alternates'), `${join(store.directory, 'objects')}\n`)
}
