import { SkeinError } from '../../model/index.js'
import type { BareStore } from '../bare-store.js'
import { type Git, GitStopped } from '../git.js'
import type { Repository } from '../repository.js'

/** A commit of the user's. */
export interface UserCommit {
  commit: string
  parents: string[]
  author: string
  author_email: string
  authored_at: string
  committer: string
  committed_at: string
  summary: string
}

/** Where objects are read: a repository of ours that borrows those of the user. */
export type Reader = Pick<BareStore, 'at'>

const MOST_CANDIDATES = 5
const FORMAT = ['%H', '%P', '%an', '%ae', '%at', '%cn', '%ct', '%s'].join('%x00')

/**
 * The id of the commit that a user means: a branch, a tag, a beginning of an id, whatever git understands. Only names are looked up in the user's
 * repository; a commit that is no longer there may still be in our store.
 */
export async function resolveCommit(
  git: Git,
  { gitDirectory }: Repository,
  store: BareStore | undefined,
  rev: string,
): Promise<string> {
  if (/^-|[\0\n]/.test(rev)) throw noCommit(rev)
  const places = [gitDirectory, ...(store && /^[0-9a-f]{4,64}$/i.test(rev) ? [store.directory] : [])]
  for (const place of places) {
    const args = ['--git-dir', place, 'rev-parse', '--verify', '--end-of-options', `${rev}^{commit}`]
    const { code, stdout, stderr } = await git.run(args, { accept: [1, 128] })
    const commit = stdout.toString().trim()
    if (code === 0 && /^[0-9a-f]{40,64}$/.test(commit)) return commit
    if (/ambiguous/.test(stderr)) throw await ambiguous(git, place, rev)
    if (/dubious ownership/.test(stderr))
      throw new SkeinError(
        'bad-input',
        `git does not trust ${gitDirectory}: it belongs to somebody else`,
        'Ask as its owner',
      )
  }
  throw noCommit(rev)
}

const noCommit = (rev: string): SkeinError =>
  new SkeinError(
    'bad-input',
    `No commit is called ${JSON.stringify(rev)} here`,
    'See `git log`, or name the repository',
  )

async function ambiguous(git: Git, place: string, rev: string): Promise<SkeinError> {
  const all = await git.text(['--git-dir', place, 'rev-parse', `--disambiguate=${rev}`], { accept: [128] })
  const input = `${all}\n`
  const kinds = await git.text(['--git-dir', place, 'cat-file', '--batch-check'], { input, accept: [128] })
  const commits = [...kinds.matchAll(/^([0-9a-f]+) commit /gm)].map(([, commit = '']) => commit)
  const named = commits.slice(0, MOST_CANDIDATES).map((commit) => commit.slice(0, 16))
  return new SkeinError(
    'ambiguous-id',
    `${commits.length} commits begin with ${rev}`,
    `Use one of ${named.join(', ')}${commits.length > named.length ? ' …' : ''}`,
  )
}

export async function commitFacts(git: Git, reader: Reader, commits: readonly string[]): Promise<UserCommit[]> {
  if (commits.length === 0) return []
  const args = ['log', '-z', '--no-walk=unsorted', '--ignore-missing', '--no-show-signature', '--no-mailmap', '--stdin']
  const { stdout } = await git.run([...reader.at(), ...args, `--format=${FORMAT}`], {
    input: commits.map((commit) => `${commit}\n`).join(''),
    accept: [128],
  })
  const fields = stdout.toString().split('\0')
  const found: UserCommit[] = []
  for (let at = 0; at + 8 <= fields.length; at += 8) {
    const [commit = '', parents = '', author = '', email = '', authored, committer = '', committed, summary = ''] =
      fields.slice(at, at + 8)
    found.push({
      commit,
      parents: parents === '' ? [] : parents.split(' '),
      author,
      author_email: email,
      authored_at: momentOf(authored),
      committer,
      committed_at: momentOf(committed),
      summary,
    })
  }
  return found
}

/** Git takes any number for a date. */
function momentOf(seconds: string | undefined): string {
  const ms = Number(seconds) * 1_000
  return new Date(Math.abs(ms) <= 8.64e15 ? ms : 0).toISOString()
}

/** A file that a commit changed, as bytes of names. */
export interface ChangedFile {
  path: string
  from?: string
  status: 'added' | 'removed' | 'changed' | 'renamed' | 'type'
  /** Undefined where there is none: the file was added or removed. */
  blob?: string
  old?: string
  kind: 'text' | 'binary' | 'submodule'
  /** Lines; absent unless it is text. */
  added?: number
  removed?: number
}

const STATUS: Readonly<Record<string, ChangedFile['status']>> = { A: 'added', D: 'removed', R: 'renamed', T: 'type' }
const SUBMODULE = '160000'

/** What a commit changed against another, or against nothing. */
export async function changedFiles(
  git: Git,
  reader: Reader,
  base: string,
  commit: string,
  signal: AbortSignal,
): Promise<ChangedFile[]> {
  const args = ['diff-tree', '--no-ext-diff', '--no-textconv', '-r', '-M', '-z', '--raw', '--numstat', '--no-abbrev']
  let fields: string[]
  try {
    fields = await git.fields([...reader.at(), ...args, base, commit], { signal })
  } catch (error) {
    if (!(error instanceof GitStopped)) throw error
    throw new SkeinError(
      'git-failed',
      `${commit.slice(0, 8)} is too large to compare in time`,
      'Explain a smaller commit',
    )
  }
  const files: ChangedFile[] = []
  let at = 0
  for (; fields[at]?.startsWith(':'); at += 1) {
    const [oldMode = '', mode = '', old = '', blob = '', letter = 'M'] = (fields[at] ?? '').slice(1).split(' ')
    const status = STATUS[letter[0] ?? ''] ?? 'changed'
    const from = status === 'renamed' ? fields[++at] : undefined
    const kind = oldMode === SUBMODULE || mode === SUBMODULE ? 'submodule' : 'text'
    files.push({
      path: fields[++at] ?? '',
      ...(from === undefined ? {} : { from }),
      status,
      ...(status === 'added' ? {} : { old }),
      ...(status === 'removed' ? {} : { blob }),
      kind,
    })
  }
  for (const file of files) {
    const [added = '-', removed = '-', name = ''] = (fields[at] ?? '').split('\t')
    at += name === '' ? 3 : 1 // a renamed file has its two names in fields of their own
    if (file.kind === 'submodule') continue
    if (added === '-') file.kind = 'binary'
    else Object.assign(file, { added: Number(added), removed: Number(removed) })
  }
  return files
}

/** A stretch of lines that a commit replaced, added or removed. */
export interface Hunk {
  /** The number of its first line in the file, and how many there are. */
  start: number
  added: number
  /** The same in the file before. */
  old_start: number
  removed: number
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/

/** Where a file of text differs from its predecessor. */
export async function hunksOf(
  git: Git,
  reader: Reader,
  { old, blob, added = 0, removed = 0 }: ChangedFile,
  signal: AbortSignal,
): Promise<Hunk[]> {
  if (added + removed === 0) return []
  if (old === undefined || blob === undefined) return [{ start: 1, added, old_start: 1, removed }]
  const args = ['diff', '--no-ext-diff', '--no-textconv', '--no-color', '--text', '-U0', old, blob]
  const hunks: Hunk[] = []
  let rest = ''
  await git.run([...reader.at(), ...args], {
    signal,
    output: (bytes) => {
      const lines = (rest + bytes.toString('latin1')).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const [, oldStart, removed = '1', start, added = '1'] = HUNK.exec(line) ?? []
        if (start === undefined) continue
        hunks.push({
          start: Number(start),
          added: Number(added),
          old_start: Number(oldStart),
          removed: Number(removed),
        })
      }
    },
  })
  return hunks
}
