import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { BareStore } from './bare-store.js'
import type { Git } from './git.js'
import { GITLINK, type IndexEntry } from './index-file.js'
import type { Repository } from './repository.js'

const ATTRIBUTES = ['filter', 'ident', 'working-tree-encoding', 'text', 'eol', 'crlf'] as const

/**
 * Paths whose object in the user's index may not be what the file on the disk contains: a filter such as LFS, `ident`, an encoding, or
 * line ends were converted as the file was added. A conversion of line ends always changes the size, so size decides there; otherwise
 * `* text=auto` would mean reading every file.
 */
export async function convertedPaths(
  entries: readonly IndexEntry[],
  repository: Repository,
  store: BareStore,
  git: Git,
  config: ReadonlyMap<string, string>,
): Promise<string[]> {
  const files = entries.filter(({ mode, stage }) => mode !== GITLINK && stage === 0)
  const hasAttributes =
    files.some(({ path }) => path === '.gitattributes' || path.endsWith('/.gitattributes')) ||
    existsSync(join(repository.root, '.gitattributes')) ||
    existsSync(join(repository.commonDirectory, 'info', 'attributes')) ||
    config.has('core.attributesfile')
  const isConverting = !['', 'false'].includes(config.get('core.autocrlf') ?? '')
  if (!hasAttributes && !isConverting) return []
  const attributes = hasAttributes ? await attributesOf(files, repository, git) : new Map<string, Set<string>>()
  const isFiltered = ({ path }: IndexEntry): boolean => {
    const own = attributes.get(path)
    return own !== undefined && ['filter', 'ident', 'working-tree-encoding'].some((name) => own.has(name))
  }
  const mayHaveLineEnds = ({ path }: IndexEntry): boolean => isConverting || attributes.has(path)
  const sized = files.filter((entry) => !isFiltered(entry) && mayHaveLineEnds(entry))
  const sizes = await sizesOf(sized, store, git)
  return [...files.filter(isFiltered), ...sized.filter((entry, n) => entry.size !== sizes[n])].map(({ path }) => path)
}

async function attributesOf(
  files: readonly IndexEntry[],
  { root, gitDirectory }: Repository,
  git: Git,
): Promise<Map<string, Set<string>>> {
  const found = new Map<string, Set<string>>()
  const at = ['--git-dir', gitDirectory, '--work-tree', root]
  const fields = await git.fields([...at, 'check-attr', '-z', '--stdin', ...ATTRIBUTES], {
    cwd: root,
    input: Buffer.from(files.map(({ path }) => `${path}\0`).join(''), 'latin1'),
  })
  for (let n = 0; n + 2 < fields.length; n += 3) {
    const [path = '', name = '', value = ''] = fields.slice(n, n + 3)
    if (value !== 'unspecified' && value !== 'unset') found.set(path, (found.get(path) ?? new Set()).add(name))
  }
  return found
}

async function sizesOf(entries: readonly IndexEntry[], store: BareStore, git: Git): Promise<number[]> {
  if (entries.length === 0) return []
  const lines = await git.text([...store.at(), 'cat-file', '--batch-check=%(objectsize)', '--buffer'], {
    input: entries.map(({ oid }) => `${oid}\n`).join(''),
  })
  return lines.split('\n').map((line) => Number(line) % 2 ** 32)
}
