import type { BareStore } from './bare-store.js'
import type { Git } from './git.js'
import { HeadLogs, isMaking, SLACK_MS } from './head-moves.js'
import type { Snapshot } from './snapshot.js'

/** More commits than a turn makes: somebody moved to another branch. */
const MOST_COMMITS = 50
const REBASES = /^(rebase|pull .*--rebase|pull --rebase)/

/**
 * The commits that were made in a worktree between two snapshots of it, oldest first: those that HEAD's own log says were made there, not those that a
 * pull, a rebase or a change of branch brought. A commit that a rebase made anew is the session's if the one that it comes from was.
 */
export async function madeCommits(
  git: Git,
  store: BareStore,
  { before, after, isOwn }: { before: Snapshot; after: Snapshot; isOwn: (commit: string) => boolean },
): Promise<string[]> {
  if (before.head === after.head || after.head === undefined || before.store !== after.store) return []
  const reached = await commitsIn(git, store, [after.head, ...(before.head === undefined ? [] : [`^${before.head}`])])
  const moves = new HeadLogs().between(before, after)?.filter(isMaking)
  if (!moves) return reached.filter(isOfTurn(before, after)).map(({ oid }) => oid)
  const made = new Map(moves.map(({ to, what }) => [to, what]))
  const rebased = reached.filter(({ oid }) => REBASES.test(made.get(oid) ?? ''))
  const direct = new Set(
    reached.filter(({ oid }) => made.has(oid) && !REBASES.test(made.get(oid) ?? '')).map(({ oid }) => oid),
  )
  if (rebased.length > 0) {
    const lost = before.head === undefined ? [] : await commitsIn(git, store, [before.head, `^${after.head}`])
    const here = await commitsIn(git, store, [
      '--no-walk',
      ...[...made.keys()].filter((oid) => !REBASES.test(made.get(oid) ?? '')),
    ])
    const own = [...lost.filter(({ oid }) => isOwn(oid)), ...here.filter(({ oid }) => !direct.has(oid))]
    const known = new Set([...own.map(keyOf), ...(await patchIds(git, store, own)).values()])
    const ids = await patchIds(git, store, rebased)
    for (const one of rebased) if (known.has(keyOf(one)) || known.has(ids.get(one.oid) ?? '')) direct.add(one.oid)
  }
  return reached.filter(({ oid }) => direct.has(oid)).map(({ oid }) => oid)
}

interface FoundCommit {
  oid: string
  authored: string
  author: string
  committedMs: number
  subject: string
}

/** A rebase keeps who wrote a commit, when, and its subject. */
const keyOf = ({ author, authored, subject }: FoundCommit): string => `${author} ${authored} ${subject}`

async function commitsIn(git: Git, store: BareStore, range: readonly string[]): Promise<FoundCommit[]> {
  if (range.filter((one) => !one.startsWith('-')).length === 0) return []
  const format = '--format=%H%x09%at%x09%ae%x09%ct%x09%s'
  const args = ['log', '--reverse', `--max-count=${MOST_COMMITS}`, '--ignore-missing', format, ...range]
  // A commit may be gone by now.
  const { code, stdout } = await git.run([...store.at(), ...args], { accept: [128] })
  if (code !== 0) return []
  return stdout
    .toString()
    .split('\n')
    .flatMap((line) => {
      const [oid = '', authored = '', author = '', committed = '', ...subject] = line.split('\t')
      if (!/^[0-9a-f]{40,64}$/.test(oid)) return []
      return [{ oid, authored, author, committedMs: Number(committed) * 1_000, subject: subject.join('\t') }]
    })
}

/** Without such a log: what was committed in the time of the turn, on the same branch. */
const isOfTurn =
  (before: Snapshot, after: Snapshot) =>
  ({ committedMs }: FoundCommit): boolean =>
    before.branch === after.branch &&
    committedMs >= Date.parse(before.as_of) - SLACK_MS &&
    committedMs <= Date.parse(after.as_of) + SLACK_MS

/** By commit, what names its change whatever it was applied to. */
export async function patchIds(
  git: Git,
  store: Pick<BareStore, 'at'>,
  commits: readonly { oid: string }[],
): Promise<Map<string, string>> {
  if (commits.length === 0) return new Map()
  const input = commits.map(({ oid }) => `${oid}\n`).join('')
  const patches = await git.bytes(
    [...store.at(), 'diff-tree', '--stdin', '--root', '-p', '--no-ext-diff', '--no-textconv'],
    { input },
  )
  const lines = await git.text([...store.at(), 'patch-id', '--stable'], { input: patches })
  return new Map(
    lines.split('\n').flatMap((line) => {
      const [id = '', oid = ''] = line.split(' ')
      return oid === '' ? [] : [[oid, id] as const]
    }),
  )
}
