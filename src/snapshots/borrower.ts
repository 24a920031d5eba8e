import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { alternateOf, type BareStore, configFor } from './bare-store.js'
import type { Repository } from './repository.js'

/** Makes a repository of its own that sees the objects of a store, and by it those of the user. The directory must be there, or its parent. */
export function makeBorrower(directory: string, store: BareStore, head: string, { bare }: { bare: boolean }): void {
  const config = readFileSync(join(store.directory, 'config'), 'utf8')
  const objects = join(store.directory, 'objects')
  make(directory, { config: bare ? config : config.replace('bare = true', 'bare = false'), head, objects })
}

/** The same for the objects of a user's repository that has no store. */
export function makeReader(directory: string, { commonDirectory, objectFormat }: Repository): void {
  const objects = alternateOf(join(commonDirectory, 'objects'))
  make(directory, { config: configFor(objectFormat), head: 'ref: refs/heads/none', objects })
}

function make(directory: string, { config, head, objects }: { config: string; head: string; objects: string }): void {
  for (const name of ['refs', 'objects', 'objects/info', 'info'])
    mkdirSync(join(directory, name), { mode: 0o700, recursive: true })
  writeFileSync(join(directory, 'HEAD'), `${head}\n`)
  writeFileSync(join(directory, 'config'), config)
  writeFileSync(join(directory, 'objects', 'info', 'alternates'), `${objects}\n`)
}
