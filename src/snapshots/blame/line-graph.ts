import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Git } from '../git.js'
import type { FileVersion } from './file-versions.js'

/** What git calls the commit of the file whose lines are asked for. */
export const ASKED = 'asked'

/** The file whose lines are asked for. */
export interface AskedFile {
  path: string
  content: { blob: string } | { bytes: Buffer }
  /** Its worktree, whose newest version it most likely comes from. */
  root?: string
  /** It may come from any version, also from one that its worktree no longer has: it was squashed, rebased or cherry-picked. */
  fromAny: boolean
  commits: readonly string[]
}

/** One commit to be: a version, its parents among the versions before it, and the user's commits that it may come from. */
export interface Node {
  mark: number
  path: string
  content: AskedFile['content']
  parents: number[]
  commits: readonly string[]
}

/** Versions that one may come from, beside the newest of each worktree. */
const MOST_OLDER = 500

/**
 * The versions as a history. Mark n + 1 is version n; a version that an earlier one equals has that one's mark, and no node. What a person brought in (a
 * merge, a pull, a copy) may come from another worktree or a commit, so such a version has those as parents, too. `isBrought`: git took changes over
 * from elsewhere, so that lines may also come from versions that no worktree has any more.
 */
export function graphOf(
  versions: readonly FileVersion[],
  asked: AskedFile,
  isBrought: (version: FileVersion) => boolean,
): Node[] {
  const nodes: Node[] = []
  /** The newest version of each worktree. */
  const tips = new Map<string, number>()
  const known = new Map<string, number>()
  const older = (): number[] => nodes.slice(-MOST_OLDER).map(({ mark }) => mark)
  for (const [at, version] of versions.entries()) {
    const { root, path, blob, snapshot, isHeadMoved } = version
    const before = tips.get(root)
    const mayBeCopied = isEdit(version) || (before === undefined && !isMadeHere(version))
    const same = mayBeCopied ? known.get(`${blob} ${path}`) : undefined
    const mark = same ?? at + 1
    if (same === undefined) {
      const isForeign = mayBeCopied || isHeadMoved
      const others = isForeign ? [...tips].filter(([one]) => one !== root).map(([, tip]) => tip) : []
      const lost = isHeadMoved && isBrought(version) ? older().reverse() : []
      const commits = isForeign && snapshot.head !== undefined ? [snapshot.head] : []
      const own = nodes.find((node) => node.mark === before)
      // Of two beginnings of a file git takes the one that has its name, which would be the commit of a renaming.
      const named = own && own.path !== path && commits.length > 0 ? versions.length + 2 + at : before
      if (own && named !== before && named !== undefined)
        nodes.push({ mark: named, path, content: own.content, parents: [own.mark], commits: [] })
      const parents = [...new Set([...(named === undefined ? [] : [named]), ...others, ...lost])]
      nodes.push({ mark, path, content: { blob }, parents, commits })
    }
    known.set(`${blob} ${path}`, mark)
    tips.set(root, mark)
  }
  const last = asked.root === undefined ? undefined : tips.get(asked.root)
  const newest = [...(last === undefined ? [] : [last]), ...tips.values()]
  const parents = [...new Set([...newest, ...(asked.fromAny ? older().reverse() : [])])]
  nodes.push({ mark: versions.length + 1, path: asked.path, content: asked.content, parents, commits: asked.commits })
  return nodes
}

const isEdit = ({ writer }: FileVersion): boolean => writer.kind === 'edit'

/** A file that was not there before a turn is the turn's, whatever another worktree has under the same name. */
const isMadeHere = ({ writer, isFirst, isHeadMoved }: FileVersion): boolean =>
  writer.kind === 'turn' && writer.since === undefined && !isFirst && !isHeadMoved

/** A first line that no file has. */
export const UNLIKE = Buffer.from('\0 unlike any commit\n')
/** Of versions that are written anew with it. */
const MOST_REWRITTEN = 64 * 1024 * 1024

/** Makes the commits on a branch; gives the mark of each. */
export async function importGraph(
  git: Git,
  scratch: string,
  branch: string,
  given: readonly Node[],
): Promise<Map<string, number | typeof ASKED>> {
  const there = await existing(git, scratch, [...new Set(given.flatMap(({ commits }) => commits))])
  const nodes = await unlikeCommits(git, scratch, given)
  const marks = join(scratch, 'marks')
  const stream = nodes.map((node) => entryOf(branch, node, there))
  await git.run(['--git-dir', scratch, 'fast-import', '--quiet', '--force', `--export-marks=${marks}`], {
    input: Buffer.concat(stream),
  })
  const found = readFileSync(marks, 'latin1').matchAll(/^:(\d+) ([0-9a-f]+)$/gm)
  const last = nodes.at(-1)?.mark
  return new Map([...found].map(([, mark, commit = '']) => [commit, Number(mark) === last ? ASKED : Number(mark)]))
}

/**
 * Blame gives all lines to the first parent that has the very same file, which would be the commit that was just made of it, whoever wrote the lines. So
 * a version that may come from a commit gets a first line that no commit has, and its other parents are asked first.
 */
async function unlikeCommits(git: Git, scratch: string, nodes: readonly Node[]): Promise<Node[]> {
  const blobs = nodes.flatMap(({ content, commits, parents }) =>
    commits.length > 0 && parents.length > 0 && 'blob' in content ? [content.blob] : [],
  )
  const contents = await contentsOf(git, scratch, [...new Set(blobs)].reverse())
  return nodes.map((node) => {
    const { content, commits, parents } = node
    if (commits.length === 0 || parents.length === 0 || !('blob' in content)) return node
    const bytes = contents.get(content.blob)
    return bytes ? { ...node, content: { bytes: Buffer.concat([UNLIKE, bytes]) } } : node
  })
}

/** The newest first, as many as fit. */
async function contentsOf(git: Git, scratch: string, blobs: readonly string[]): Promise<Map<string, Buffer>> {
  if (blobs.length === 0) return new Map()
  const found = new Map<string, Buffer>()
  const at = ['--git-dir', scratch]
  const input = (some: readonly string[]): string => some.map((blob) => `${blob}\n`).join('')
  const sizes = await git.text([...at, 'cat-file', '--batch-check', '--buffer'], { input: input(blobs) })
  let left = MOST_REWRITTEN
  const fitting = sizes.split('\n').flatMap((line) => {
    const [, blob, size] = /^([0-9a-f]+) blob (\d+)$/.exec(line) ?? []
    left -= Number(size ?? 0)
    return blob === undefined || left < 0 ? [] : [blob]
  })
  if (fitting.length === 0) return found
  const bytes = await git.bytes([...at, 'cat-file', '--batch', '--buffer'], { input: input(fitting) })
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(10, from)
    const [blob = '', , size = '0'] = bytes.toString('latin1', from, end).split(' ')
    found.set(blob, bytes.subarray(end + 1, end + 1 + Number(size)))
    from = end + 1 + Number(size) + 1
  }
  return found
}

/** Those of the user's commits that are still there. */
async function existing(git: Git, scratch: string, commits: readonly string[]): Promise<Set<string>> {
  if (commits.length === 0) return new Set()
  const input = commits.map((commit) => `${commit}\n`).join('')
  const lines = await git.text(['--git-dir', scratch, 'cat-file', '--batch-check', '--buffer'], { input })
  return new Set([...lines.matchAll(/^([0-9a-f]+) commit /gm)].map(([, commit = '']) => commit))
}

function entryOf(branch: string, { mark, path, content, parents, commits }: Node, there: ReadonlySet<string>): Buffer {
  const [first, ...rest] = [...parents.map((parent) => `:${parent}`), ...commits.filter((commit) => there.has(commit))]
  const head = [
    // Else fast-import takes the commit before it as its parent.
    ...(first === undefined ? [`reset ${branch}`, ''] : []),
    `commit ${branch}`,
    `mark :${mark}`,
    `committer skein <skein@localhost> ${mark} +0000`,
    'data 0',
    ...(first === undefined ? [] : [`from ${first}`]),
    ...rest.map((parent) => `merge ${parent}`),
    'deleteall',
    `M 100644 ${'blob' in content ? content.blob : 'inline'} ${quoted(path)}`,
    '',
  ].join('\n')
  if ('blob' in content) return Buffer.from(head, 'latin1')
  return Buffer.concat([
    Buffer.from(`${head}data ${content.bytes.length}\n`, 'latin1'),
    content.bytes,
    Buffer.from('\n'),
  ])
}

/** As fast-import reads the name of a file. */
const quoted = (path: string): string => `"${path.replace(/["\\]/g, '\\$&')}"`
