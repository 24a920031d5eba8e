import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { readGuarded } from '../../disk/index.js'
import { SkeinError } from '../../model/index.js'
import { BareStore } from '../bare-store.js'
import { makeBorrower } from '../borrower.js'
import type { Git } from '../git.js'
import { refusePipes } from '../readable-repository.js'
import { findRepository } from '../repository.js'
import { type Snapshot, shown } from '../snapshot.js'
import { type FileVersion, versionsIn, type Writer } from './file-versions.js'

/** Where a line comes from. */
export type LineOrigin =
  | { kind: 'turn'; writer: Extract<Writer, { kind: 'turn' }>; snapshot: Snapshot }
  /** Between two turns; `snapshot` is the first that has it. */
  | { kind: 'edit'; snapshot: Snapshot }
  /** A commit of the user's repository, from before the first snapshot or from elsewhere. */
  | { kind: 'commit'; commit: string; author: string; at: string; summary: string }
  /** It was there at the first snapshot, and no commit has it. */
  | { kind: 'before'; snapshot: Snapshot }
  /** Since the last snapshot. */
  | { kind: 'now' }

export interface BlamedLine {
  number: number
  text: string
  origin: LineOrigin
}

export interface FileBlame {
  root: string
  /** Relative to the root. */
  path: string
  lines: BlamedLine[]
}

/** Longer files are no text that somebody reads. */
const MOST_BYTES = 16 * 1024 * 1024
const NOW = 'now'

/**
 * Who wrote each line of a file as it is now. The versions of the file in the snapshots become a history of its own, in a scratch
 * repository that borrows the objects of the store, and git's own blame walks through it and on into the user's commits. What a person
 * brought in (a merge, a pull, a copy) may come from another worktree or a commit, so such a version has those as parents, too.
 */
export async function blameFile(
  { git, snapshots: directory }: { git: Git; snapshots: string },
  given: string,
  of: (store: string) => Promise<Snapshot[]>,
): Promise<FileBlame> {
  const { file, content } = contentOf(given)
  const place = storeOf(directory, file, git)
  if (!place) throw nothingKnown(file)
  const { store, root } = place
  const path = Buffer.from(relative(root, file)).toString('latin1')
  const all = (await of(store.name)).sort(byTime)
  if (all.length === 0) throw nothingKnown(file)
  const versions: FileVersion[] = []
  for (const one of new Set(all.map((snapshot) => snapshot.root))) {
    const inRoot = all.filter((snapshot) => snapshot.root === one)
    versions.push(...(await versionsIn(git, store, inRoot, path)))
  }
  versions.sort((a, b) => byTime(a.snapshot, b.snapshot))
  const graph = graphOf(versions, { root, path, content })
  const scratch = mkdtempSync(join(tmpdir(), 'skein-blame-'))
  try {
    makeBorrower(scratch, store, 'ref: refs/heads/file', { bare: true })
    const marks = await importGraph(git, scratch, graph)
    const args = ['--git-dir', scratch, 'blame', '--porcelain', '--root', 'refs/heads/file', '--', shown(path)]
    const printed = await git.bytes(args)
    return { root, path: shown(path), lines: linesIn(printed, marks, versions) }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** The file itself where a link is named, and what it has. */
function contentOf(given: string): { file: string; content: Buffer } {
  try {
    const file = realpathSync(given)
    return { file, content: readGuarded(file, { mostBytes: MOST_BYTES }) }
  } catch (error) {
    throw new SkeinError('bad-input', `${given} cannot be read: ${(error as Error).message}`, 'Name a file of text')
  }
}

function storeOf(directory: string, file: string, git: Git): { store: BareStore; root: string } | undefined {
  const repository = findRepository(join(file, '..'))
  for (const store of BareStore.all(directory, git)) {
    if (store.facts.source === repository?.commonDirectory) {
      refusePipes([repository.gitDirectory, repository.commonDirectory])
      return { store, root: repository.root }
    }
    if (!repository && file.startsWith(`${store.facts.source}/`)) return { store, root: store.facts.source }
  }
  return undefined
}

const nothingKnown = (file: string): SkeinError =>
  new SkeinError(
    'snapshot-not-found',
    `No turn was captured in the repository of ${file}`,
    'Turns are captured while the daemon runs: skein daemon start',
  )

/** One commit to be: a version, its parents among the versions before it, and the user's commits that it may come from. */
interface Node {
  mark: number
  path: string
  content: { blob: string } | { bytes: Buffer }
  parents: number[]
  commits: string[]
}

/** Mark n + 1 is version n; a version that an earlier one equals has that one's mark, and no node. */
function graphOf(versions: readonly FileVersion[], now: { root: string; path: string; content: Buffer }): Node[] {
  const nodes: Node[] = []
  /** The newest version of each worktree. */
  const tips = new Map<string, number>()
  const known = new Map<string, number>()
  for (const [at, { root, path, blob, writer, snapshot, isHeadMoved }] of versions.entries()) {
    const before = tips.get(root)
    const same = writer.kind === 'edit' || before === undefined ? known.get(`${blob} ${path}`) : undefined
    const mark = same ?? at + 1
    if (same === undefined) {
      const isForeign = writer.kind === 'edit' || isHeadMoved || before === undefined
      const others = isForeign ? [...tips].filter(([one]) => one !== root).map(([, tip]) => tip) : []
      const commits = isForeign && snapshot.head !== undefined ? [snapshot.head] : []
      const parents = [...new Set([...(before === undefined ? [] : [before]), ...others])]
      nodes.push({ mark, path, content: { blob }, parents, commits })
    }
    known.set(`${blob} ${path}`, mark)
    tips.set(root, mark)
  }
  const last = tips.get(now.root)
  const parents = [...new Set([...(last === undefined ? [] : [last]), ...tips.values()])]
  nodes.push({ mark: versions.length + 1, path: now.path, content: { bytes: now.content }, parents, commits: [] })
  return nodes
}

/** Makes the commits; gives the mark of each. */
async function importGraph(
  git: Git,
  scratch: string,
  nodes: readonly Node[],
): Promise<Map<string, number | typeof NOW>> {
  const there = await existing(git, scratch, [...new Set(nodes.flatMap(({ commits }) => commits))])
  const marks = join(scratch, 'marks')
  const stream = nodes.map((node) => entryOf(node, there))
  await git.run(['--git-dir', scratch, 'fast-import', '--quiet', `--export-marks=${marks}`], {
    input: Buffer.concat(stream),
  })
  const found = readFileSync(marks, 'latin1').matchAll(/^:(\d+) ([0-9a-f]+)$/gm)
  const last = nodes.at(-1)?.mark
  return new Map([...found].map(([, mark, commit = '']) => [commit, Number(mark) === last ? NOW : Number(mark)]))
}

/** Those of the user's commits that are still there. */
async function existing(git: Git, scratch: string, commits: readonly string[]): Promise<Set<string>> {
  if (commits.length === 0) return new Set()
  const input = commits.map((commit) => `${commit}\n`).join('')
  const lines = await git.text(['--git-dir', scratch, 'cat-file', '--batch-check', '--buffer'], { input })
  return new Set([...lines.matchAll(/^([0-9a-f]+) commit /gm)].map(([, commit = '']) => commit))
}

function entryOf({ mark, path, content, parents, commits }: Node, there: ReadonlySet<string>): Buffer {
  const [first, ...rest] = [...parents.map((parent) => `:${parent}`), ...commits.filter((commit) => there.has(commit))]
  const head = [
    'commit refs/heads/file',
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

/** What `git blame --porcelain` prints: a head per line, what is known of a commit at its first line, the text behind a tab. */
function linesIn(
  printed: Buffer,
  marks: ReadonlyMap<string, number | typeof NOW>,
  versions: readonly FileVersion[],
): BlamedLine[] {
  const lines: BlamedLine[] = []
  const facts = new Map<string, Map<string, string>>()
  let commit = ''
  for (const line of printed.toString('latin1').split('\n')) {
    const head = /^([0-9a-f]{40,64}) \d+ \d+/.exec(line)
    if (line.startsWith('\t')) {
      const origin = originOf(commit, facts.get(commit), marks.get(commit), versions)
      lines.push({ number: lines.length + 1, text: shown(line.slice(1)), origin })
    } else if (head) {
      commit = head[1] ?? ''
      if (!facts.has(commit)) facts.set(commit, new Map())
    } else {
      const space = line.indexOf(' ')
      facts.get(commit)?.set(space < 0 ? line : line.slice(0, space), shown(line.slice(space + 1)))
    }
  }
  return lines
}

function originOf(
  commit: string,
  facts: ReadonlyMap<string, string> | undefined,
  mark: number | typeof NOW | undefined,
  versions: readonly FileVersion[],
): LineOrigin {
  if (mark === NOW) return { kind: 'now' }
  const version = mark === undefined ? undefined : versions[mark - 1]
  if (!version) {
    const at = new Date(Number(facts?.get('author-time') ?? 0) * 1000).toISOString()
    return { kind: 'commit', commit, author: facts?.get('author') ?? '', at, summary: facts?.get('summary') ?? '' }
  }
  const { snapshot, writer } = version
  if (writer.kind === 'turn') return { kind: 'turn', writer, snapshot }
  const isFirst = versions.find(({ root }) => root === version.root) === version
  return isFirst ? { kind: 'before', snapshot } : { kind: 'edit', snapshot }
}

const byTime = (a: Snapshot, b: Snapshot): number => compare(a.as_of, b.as_of) || compare(a.at, b.at) || a.seq - b.seq
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
