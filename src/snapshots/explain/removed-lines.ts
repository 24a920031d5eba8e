import type { FileVersion } from '../blame/file-versions.js'
import { importGraph, type Node } from '../blame/line-graph.js'
import { type LineOrigin, writtenBy } from '../blame/line-origins.js'
import type { Git } from '../git.js'
import { shown } from '../snapshot.js'
import type { ChangedFile, Hunk } from './user-commit.js'

const BRANCH = 'refs/heads/removed'
/** Worktrees that are asked, the newest first. */
const MOST_ROOTS = 4

interface Setting {
  git: Git
  scratch: string
  signal: AbortSignal
}

/**
 * Who removed each line that a commit removed, by the number that it had. The versions of a worktree become a history that runs backwards: a line that came
 * into it with a version is one that the version after it no longer has.
 */
export async function removedLines(
  setting: Setting,
  file: ChangedFile,
  hunks: readonly Hunk[],
  versions: readonly FileVersion[],
): Promise<Map<number, LineOrigin>> {
  const wanted = new Set(
    hunks.flatMap(({ old_start, removed }) => Array.from({ length: removed }, (_, n) => old_start + n)),
  )
  const removals = new Map<number, LineOrigin>()
  for (const chain of chainsOf(file, versions)) {
    if (removals.size === wanted.size) break
    const last = await lastVersions(setting, file, chain)
    for (const number of wanted) {
      const at = last[number - 1]
      const next = at === undefined ? undefined : chain[at + 1]
      if (next && !removals.has(number)) removals.set(number, writtenBy(next))
    }
  }
  for (const number of wanted) if (!removals.has(number)) removals.set(number, { kind: 'now' })
  return removals
}

/** The versions of each worktree. One that has the file as the commit has it comes first, then the one that changed it last. */
function chainsOf({ blob }: ChangedFile, versions: readonly FileVersion[]): FileVersion[][] {
  const chains = [...new Set(versions.map(({ root }) => root))]
    .map((root) => versions.filter((one) => one.root === root))
    .filter((chain) => chain.length > 1)
    .reverse()
  const hasIt = (chain: FileVersion[]): boolean => chain.some((one) => one.blob === blob)
  return [...chains.filter(hasIt), ...chains.filter((chain) => !hasIt(chain))].slice(0, MOST_ROOTS)
}

/** For each line of the file before the commit the place of the last version that has it; undefined where none has. */
async function lastVersions(
  { git, scratch, signal }: Setting,
  { path, from = path, old = '' }: ChangedFile,
  chain: readonly FileVersion[],
): Promise<(number | undefined)[]> {
  const nodes = chain
    .map(
      ({ path, blob }, at): Node => ({
        mark: at + 1,
        path,
        content: { blob },
        parents: at + 1 < chain.length ? [at + 2] : [],
        commits: [],
      }),
    )
    .reverse()
  const parents = nodes.map(({ mark }) => mark)
  nodes.push({ mark: chain.length + 1, path: from, content: { blob: old }, parents, commits: [] })
  const marks = await importGraph(git, scratch, BRANCH, nodes)
  const args = ['--git-dir', scratch, 'blame', '--porcelain', '--root', BRANCH, '--', shown(from)]
  const printed = (await git.bytes(args, { signal })).toString('latin1')
  return printed.split('\n').flatMap((line) => {
    const [, commit] = /^([0-9a-f]{40,64}) \d+ \d+/.exec(line) ?? []
    const mark = commit === undefined ? undefined : marks.get(commit)
    return commit === undefined ? [] : [typeof mark === 'number' ? mark - 1 : undefined]
  })
}
