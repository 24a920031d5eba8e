import { SkeinError } from '../model/index.js'
import type { BareStore } from './bare-store.js'
import type { Git } from './git.js'
import { type Snapshot, shown } from './snapshot.js'

/** One file that differs between two snapshots. */
export interface FileChange {
  path: string
  /** Where it was before, if it was renamed. */
  from?: string
  status: 'added' | 'removed' | 'changed' | 'renamed' | 'type'
  /** Lines; absent for a binary file. */
  added?: number
  removed?: number
}

const PLAIN = ['--no-ext-diff', '--no-textconv', '--no-color', '-r', '-M'] as const

/** The files that differ, with the lines added and removed. */
export async function changesBetween(git: Git, store: BareStore, before: string, after: string): Promise<FileChange[]> {
  return readChanges(await comparedTrees(git, store, before, after), 0).changes
}

/** What git says of two trees: a record per file that begins with a colon and has full names of objects, then one per file with its lines. */
export async function comparedTrees(git: Git, store: BareStore, before: string, after: string): Promise<string[]> {
  if (before === after) return []
  return git.fields([...store.at(), 'diff-tree', ...PLAIN, '--no-abbrev', '-z', '--raw', '--numstat', before, after])
}

/** The same for many pairs of trees with one process: a session has hundreds of turns. */
export async function changesOfPairs(
  git: Git,
  store: BareStore,
  pairs: readonly (readonly [string, string])[],
): Promise<FileChange[][]> {
  const wanted = new Map(pairs.filter(([before, after]) => before !== after).map((pair) => [pair.join(' '), pair]))
  if (wanted.size === 0) return pairs.map(() => [])
  const args = [...store.at(), 'diff-tree', '--stdin', ...PLAIN, '-z', '--raw', '--numstat']
  const fields = await git.fields(args, { input: [...wanted.keys()].map((line) => `${line}\n`).join('') })
  const found = new Map<string, FileChange[]>()
  for (let at = 0; at < fields.length; ) {
    // The line with the two trees ends in a line feed, although everything else ends in NUL.
    const field = fields[at] ?? ''
    const end = field.indexOf('\n')
    const key = end < 0 ? field : field.slice(0, end)
    if (end < 0) at += 1
    else fields[at] = field.slice(end + 1)
    const { changes, next } = readChanges(fields, at)
    found.set(key, changes)
    at = Math.max(next, at + 1)
  }
  return pairs.map((pair) => found.get(pair.join(' ')) ?? [])
}

/** The same as a patch. It has what the files have, control characters included: whoever prints it escapes it. */
export async function patchBetween(git: Git, store: BareStore, before: string, after: string): Promise<string> {
  if (before === after) return ''
  const bytes = await git.bytes([
    ...store.at(),
    '-c',
    'core.quotePath=false',
    'diff-tree',
    ...PLAIN,
    '-p',
    before,
    after,
  ])
  return bytes.toString()
}

/** Two snapshots can be compared when one store has both. */
export function refuseStrangers(before: Snapshot, after: Snapshot): void {
  if (before.store === after.store) return
  const next = 'Compare snapshots of the same repository'
  throw new SkeinError(
    'bad-input',
    `The snapshots are of different repositories: ${before.root} and ${after.root}`,
    next,
  )
}

const STATUS: Readonly<Record<string, FileChange['status']>> = {
  A: 'added',
  C: 'added',
  D: 'removed',
  M: 'changed',
  R: 'renamed',
  T: 'type',
}

/** See `comparedTrees`. */
export function readChanges(fields: readonly string[], from: number): { changes: FileChange[]; next: number } {
  const changes: FileChange[] = []
  let at = from
  for (; fields[at]?.startsWith(':'); at += 1) {
    const letter = fields[at]?.split(' ')[4]?.[0] ?? 'M'
    const from = letter === 'R' || letter === 'C' ? fields[++at] : undefined
    const path = shown(fields[++at] ?? '')
    const status = STATUS[letter] ?? 'changed'
    changes.push({ path, status, ...(from === undefined || letter === 'C' ? {} : { from: shown(from) }) })
  }
  for (const change of changes) {
    const [added = '-', removed = '-', name = ''] = (fields[at] ?? '').split('\t')
    at += name === '' ? 3 : 1 // a renamed file has its two names in fields of their own
    if (added !== '-') Object.assign(change, { added: Number(added), removed: Number(removed) })
  }
  return { changes, next: at }
}
