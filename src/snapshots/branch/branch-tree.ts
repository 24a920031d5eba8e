import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { statOf, temporaryName } from '../../disk/index.js'
import { SkeinError } from '../../model/index.js'
import type { BareStore } from '../bare-store.js'
import { makeBorrower } from '../borrower.js'
import type { Git } from '../git.js'
import { GITLINK } from '../index-file.js'
import { isSecretPath } from '../secret-paths.js'
import { asBytes, type Snapshot, shown } from '../snapshot.js'
import { detailsOf } from '../user-objects.js'
import { stateDirectory } from '../worktree-state.js'

/** The tree of a commit, and what of the turn it does not have. */
export interface BranchTree {
  tree: string
  /** Files that changed and are as the commit before has them: only a program that the repository names could convert them. */
  unconverted: string[]
}

const GITLINK_MODE = GITLINK.toString(8)

interface Change {
  path: string
  /** Absent where the base has no such file. */
  old?: { mode: string; oid: string }
  new?: { mode: string; oid: string }
}

export interface BranchState {
  snapshot: Snapshot
  /** The beginning of the turn. */
  before?: Snapshot | undefined
  /** The tree of the commit before. */
  base: string | undefined
  /** The user's configuration of git. */
  config: ReadonlyMap<string, string>
}

/**
 * A tree as `git commit -a` would have made it, without running a program that the repository names. Raw bytes become what git's built-in
 * conversions (line ends, encoding, ident) make of them. Files that are not in the snapshot for another reason than that they were deleted stay
 * as `base` has them: secrets, files beyond the limit, files outside a sparse checkout, repositories inside.
 */
export async function branchTree(
  git: Git,
  store: BareStore,
  { snapshot, before, base, config }: BranchState,
): Promise<BranchTree> {
  if (snapshot.skipped_count > snapshot.skipped.length)
    throw new SkeinError(
      'snapshot-refused',
      `${snapshot.skipped_count} files were skipped`,
      'Ignore them in .gitignore',
    )
  const { skipped } = await detailsOf(store, snapshot, git)
  const absent = new Set([...skipped.map(shown), ...snapshot.skipped.map(({ path }) => path)])
  const inside = snapshot.nested.map(({ path }) => path)
  const changes = await changesFrom(git, store, base, snapshot.worktree_tree)
  const isKept = ({ path, old, new: now }: Change): boolean =>
    isSecretPath(path) ||
    old?.mode === GITLINK_MODE ||
    now?.mode === GITLINK_MODE ||
    inside.includes(shown(path)) ||
    (now === undefined && absent.has(shown(path)))
  const kept = changes.filter(isKept)
  const taken = changes.filter((change) => !isKept(change))
  const conversion = await converted(git, store, snapshot, taken, config)
  const undone = [...kept, ...conversion.unconverted]
  const entries = [
    ...undone.map(({ path, old }) => entryLine(path, old)),
    ...conversion.files.map(({ path, new: now }) => entryLine(path, now)),
  ]
  const recent = new Set((await changesFrom(git, store, before?.worktree_tree, snapshot.worktree_tree)).map(pathOf))
  const unconverted = conversion.unconverted.filter(({ path }) => recent.has(path)).map(({ path }) => shown(path))
  if (entries.length === 0) return { tree: snapshot.worktree_tree, unconverted }
  return { tree: await edited(git, store, snapshot.worktree_tree, entries), unconverted }
}

async function changesFrom(git: Git, store: BareStore, base: string | undefined, tree: string): Promise<Change[]> {
  const from = base ?? (await git.text([...store.at(), 'hash-object', '-t', 'tree', '-w', '--stdin'], { input: '' }))
  const fields = await git.fields([...store.at(), 'diff-tree', '-r', '-z', '--no-renames', '--raw', from, tree])
  const changes: Change[] = []
  for (let n = 0; n + 1 < fields.length; n += 2) {
    const [oldMode = '', newMode = '', oldOid = '', newOid = ''] = (fields[n] ?? '').slice(1).split(' ')
    changes.push({
      path: fields[n + 1] ?? '',
      ...(oldMode === NONE ? {} : { old: { mode: oldMode, oid: oldOid } }),
      ...(newMode === NONE ? {} : { new: { mode: newMode, oid: newOid } }),
    })
  }
  return changes
}

const NONE = '000000'
const pathOf = ({ path }: Change): string => path

const entryLine = (path: string, entry: Change['new']): string =>
  entry ? `${entry.mode} ${entry.oid}\t${path}\0` : `0 ${'0'.repeat(40)}\t${path}\0`

async function edited(git: Git, store: BareStore, tree: string, entries: readonly string[]): Promise<string> {
  const index = temporaryName(join(stateDirectory(store.directory), 'branch'))
  const env = { GIT_INDEX_FILE: index }
  const zero = '0'.repeat(store.hashBytes * 2)
  const input = Buffer.from(entries.join('').replaceAll(`0 ${'0'.repeat(40)}\t`, `0 ${zero}\t`), 'latin1')
  try {
    await git.run([...store.at(), 'read-tree', tree], { env })
    await git.run([...store.at(), 'update-index', '--replace', '-z', '--index-info'], { env, input })
    return await git.text([...store.at(), 'write-tree'], { env })
  } finally {
    rmSync(index, { force: true })
  }
}

interface Conversion {
  /** As git's own conversions make them. */
  files: Change[]
  /** What only a program could convert. */
  unconverted: Change[]
}

const BUILT_IN = ['text', 'eol', 'crlf', 'ident', 'working-tree-encoding']
/** Settings that conversions without a program depend on. */
export const CONVERSION_SETTINGS = ['core.autocrlf', 'core.eol', 'core.safecrlf']

async function converted(
  git: Git,
  store: BareStore,
  { root }: Snapshot,
  changes: readonly Change[],
  config: ReadonlyMap<string, string>,
): Promise<Conversion> {
  const files = changes.filter(({ new: now }) => now?.mode === '100644' || now?.mode === '100755')
  if (files.length === 0 || !statOf(root)) return { files: [], unconverted: [] }
  const borrower = temporaryName(join(stateDirectory(store.directory), 'convert'))
  try {
    // A repository without the user's configuration: an attribute that names a filter finds no program.
    makeBorrower(borrower, store, 'ref: refs/heads/none', { bare: false })
    const settings = CONVERSION_SETTINGS.flatMap((name) =>
      config.has(name) ? ['-c', `${name}=${config.get(name)}`] : [],
    )
    const at = [...settings, '-c', 'core.safecrlf=false', '--git-dir', borrower, '--work-tree', root]
    const input = Buffer.from(files.map(({ path }) => `${path}\0`).join(''), 'latin1')
    const fields = await git.fields([...at, 'check-attr', '-z', '--stdin', 'filter', ...BUILT_IN], { cwd: root, input })
    const attributes = new Map<string, Set<string>>()
    for (let n = 0; n + 2 < fields.length; n += 3) {
      const [path = '', name = '', value = ''] = fields.slice(n, n + 3)
      if (value !== 'unspecified' && value !== 'unset')
        attributes.set(path, (attributes.get(path) ?? new Set()).add(name))
    }
    const isFiltered = ({ path }: Change): boolean => attributes.get(path)?.has('filter') === true
    const isAll = !['', 'false'].includes(config.get('core.autocrlf') ?? '')
    const own = files.filter((file) => !isFiltered(file) && (isAll || attributes.has(file.path)))
    const made = await convertAll(git, store, at, root, own)
    return {
      files: made.filter(({ new: now }, n) => now?.oid !== own[n]?.new?.oid),
      unconverted: files.filter(isFiltered),
    }
  } finally {
    rmSync(borrower, { recursive: true, force: true })
  }
}

/** Of files that still are what the snapshot has, git reads all in one process. */
async function convertAll(
  git: Git,
  store: BareStore,
  at: readonly string[],
  root: string,
  files: readonly Change[],
): Promise<Change[]> {
  const call = { cwd: root, env: { GIT_OBJECT_DIRECTORY: join(store.directory, 'objects') } }
  const hashes = async (args: readonly string[], some: readonly Change[]): Promise<string[]> => {
    if (some.length === 0) return []
    const input = Buffer.from(some.map(({ path }) => `${path}\n`).join(''), 'latin1')
    const { code, stdout } = await git.run([...at, 'hash-object', ...args], { ...call, input, accept: [128] })
    return code === 0 ? stdout.toString().trimEnd().split('\n') : []
  }
  const plain = files.filter(({ path }) => !/["\n]/.test(path))
  const raw = await hashes(['--no-filters', '--stdin-paths'], plain)
  const same = plain.filter(({ new: now }, n) => now?.oid === raw[n])
  const made = new Map<string, string | undefined>()
  const clean = await hashes(['-w', '--stdin-paths'], same)
  for (const [n, { path }] of same.entries()) made.set(path, clean[n])
  const converted: Change[] = []
  for (const file of files) {
    if (!file.new) continue
    const oid = made.get(file.path) ?? (await convertOne(git, store, at, file.path, file.new.oid, call))
    converted.push({ ...file, new: { mode: file.new.mode, oid } })
  }
  return converted
}

/** From the snapshot: the file on the disk has changed since. */
async function convertOne(
  git: Git,
  store: BareStore,
  at: readonly string[],
  path: string,
  oid: string,
  call: { cwd: string; env: Record<string, string> },
): Promise<string> {
  const input = await git.bytes([...store.at(), 'cat-file', 'blob', oid])
  return git.text([...at, 'hash-object', '-w', '--stdin', `--path=${asBytes(path).toString()}`], { ...call, input })
}
