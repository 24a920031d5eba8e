import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn, statOf } from '../disk/index.js'
import { SkeinError } from '../model/index.js'
import { BareStore } from './bare-store.js'
import { type CaptureSetting, WAIT_MS } from './capture.js'
import { type CarriedCode, OID } from './carried-facts.js'
import { refuseBomb } from './carried-size.js'
import type { Git } from './git.js'
import { repositoryAt } from './repository.js'
import { checkOut, setIndex } from './restore.js'
import { MOMENTS, MOST_NAMED, messageOf, recordIn, refOf, type Snapshot, type SnapshotRecord } from './snapshot.js'
import { bringObjects, detailsOf } from './user-objects.js'
import { stateDirectory } from './worktree-state.js'

/**
 * Writes snapshots of one store as a git bundle, with what their trees need and nothing else: HEAD is carried as one commit without
 * history. The store itself only gains those commits.
 */
export async function bundleCode(
  { snapshots: directory, git }: Pick<CaptureSetting, 'snapshots' | 'git'>,
  snapshots: readonly Snapshot[],
  write: (bytes: Buffer) => void,
): Promise<CarriedCode> {
  const last = snapshots.at(-1)
  const store = last && BareStore.named(directory, last.store, git)
  if (!last || !store) throw new SkeinError('snapshot-not-found', 'The code of the turn is gone', VERIFY)
  const here = snapshots.filter((one) => one.store === last.store && one.root === last.root)
  const heads: CarriedCode['heads'] = []
  for (const head of new Set(here.flatMap((one) => one.head ?? []))) {
    const { code, stdout } = await git.run([...store.at(), 'rev-parse', '--verify', '--quiet', `${head}^{tree}`], {
      accept: [1, 128],
    })
    const tree = stdout.toString().trim()
    if (code === 0 && OID.test(tree))
      heads.push({ head, commit: store.objects.commit(tree, `HEAD was ${head}\n\nIts history is not carried.`, 0) })
  }
  const { format } = store.facts
  const tips = [...here.map(({ commit }) => commit), ...heads.map(({ commit }) => commit)]
  const lines = tips.map((oid, n) => `${oid} refs/skein/${n}\n`).join('')
  write(Buffer.from(`${format === 'sha1' ? SHA1 : SHA256}${lines}\n`))
  const pack = ['pack-objects', '--revs', '--stdout', '-q', '--delta-base-offset']
  await git.run([...store.at(), ...pack], {
    input: [...new Set(tips)].map((oid) => `${oid}\n`).join(''),
    output: write,
  })
  return {
    format,
    is_git: last.git_directory !== undefined,
    root: last.root,
    snapshots: here.map(({ commit }) => commit),
    heads,
  }
}

const SHA1 = '# v2 git bundle\n'
const SHA256 = '# v3 git bundle\n@object-format=sha256\n'
const VERIFY = 'Run `skein snapshots verify`'

/** The pack inside a bundle: what is behind its first empty line. */
function* packIn(bundle: Iterable<Buffer>): Iterable<Buffer> {
  let head: Buffer | undefined = Buffer.alloc(0)
  for (const piece of bundle) {
    if (!head) {
      yield piece
      continue
    }
    head = Buffer.concat([head, piece])
    const end = head.indexOf('\n\n')
    if (end < 0) continue
    yield head.subarray(end + 2)
    head = undefined
  }
}

export interface AdoptTarget {
  /** A directory that does not exist yet. */
  root: string
  /** Whose turns they are from now on. */
  session: string
  /** What its files may take together; 8 GB by default. */
  mostGb?: number
}

/**
 * Makes a directory with the code of the last snapshot, as a repository of its own where the source was one, and keeps all snapshots as
 * those of another session. Nothing of the bundle is believed: git checks every object, sizes are bounded before a file is written, and
 * neither hooks nor configuration come along. If it fails, nothing is left.
 */
export async function adoptCode(
  setting: CaptureSetting,
  code: CarriedCode,
  bundle: Iterable<Buffer>,
  { root, session, mostGb }: AdoptTarget,
): Promise<Snapshot> {
  const { git, snapshots: directory } = setting
  if (statOf(root) && namesIn(root).length > 0)
    throw new SkeinError('bad-input', `${root} is already there`, 'Choose a directory that does not exist yet')
  let made: BareStore | undefined
  let isNew = false
  try {
    mkdirSync(root, { recursive: true, mode: 0o700 })
    if (code.is_git) await git.run(['init', '--quiet', '--template=', `--object-format=${code.format}`, root])
    const repository = code.is_git ? repositoryAt(root) : undefined
    const stores = new Set(BareStore.all(directory, git).map(({ name }) => name))
    const store = BareStore.open(directory, { root, repository }, git)
    made = store
    isNew = !stores.has(store.name)
    using _held = await store.hold(WAIT_MS)
    await git.run([...store.at(), ...INDEX_PACK], { input: packIn(bundle), env: { GIT_ALLOC_LIMIT: MOST_MEMORY } })
    const gitDirectory = repository?.gitDirectory
    const adopted = await adoptAll(setting, store, code, { root, session, gitDirectory, mostGb })
    const last = adopted.at(-1)
    if (!last) throw strange('it has no snapshot')
    await (repository ? checkOutRepository(git, store, last) : checkOutFiles(git, store, last))
    // What was purged here may be in it, and nothing that a home keeps may bring it back. The files are the user's own.
    if (setting.forgetter) await dropStore(git, store, session, isNew)
    return last
  } catch (error) {
    rmSync(root, { recursive: true, force: true })
    if (made) await dropStore(git, made, session, isNew)
    throw error
  }
}

/** Objects are checked as those of a stranger, and written under their own hash. */
const INDEX_PACK = ['-c', 'pack.threads=1', 'index-pack', '--strict', '--stdin'] as const
/** Of one object. A few bytes can say that another object is repeated a million times; git never writes such a thing of a file this large. */
const MOST_MEMORY = '1g'

async function dropStore(git: Git, store: BareStore, session: string, isNew: boolean): Promise<void> {
  if (isNew) return rmSync(store.directory, { recursive: true, force: true })
  const refs = await store.commits(refOf(session, '').slice(0, -1))
  const input = refs.map(({ ref }) => `delete ${ref}\n`).join('')
  await git.run([...store.at(), 'update-ref', '--stdin'], { input })
}

async function adoptAll(
  { git }: CaptureSetting,
  store: BareStore,
  { snapshots, heads }: CarriedCode,
  target: { root: string; session: string; gitDirectory: string | undefined; mostGb: number | undefined },
): Promise<Snapshot[]> {
  const trees = await treesOf(git, store, snapshots)
  await refuseBomb(
    git,
    store,
    [...trees.values()].flatMap(({ worktree, index }) => [worktree, index ?? []].flat()),
    { ...target, files: trees.get(snapshots.at(-1) ?? '')?.worktree ?? '' },
  )
  const bases = new Map(heads.map(({ head, commit }) => [head, commit]))
  const known = await kindsOf(
    git,
    store,
    heads.map(({ commit }) => commit),
  )
  if (heads.some(({ commit }) => known.get(commit) !== 'commit')) throw strange('HEAD is not in it')
  const adopted: Snapshot[] = []
  for (const commit of snapshots) {
    const tree = trees.get(commit)
    const message = await git.text([...store.at(), 'cat-file', 'commit', commit])
    const said = recordIn(Buffer.from(message, 'latin1').toString('utf8'))
    if (!tree || !said) throw strange('a snapshot has no record')
    const seq = adopted.length + 1
    const record = recordFrom(said, { ...target, seq, tree, head: bases.get(said.head ?? '') })
    const own = store.objects.commit(tree.all, messageOf(record), Date.parse(record.at))
    store.setRef(refOf(target.session, seq), own)
    adopted.push({ ...record, store: store.name, commit: own })
  }
  return adopted
}

interface SnapshotTrees {
  all: string
  worktree: string
  index?: string
}

async function treesOf(git: Git, store: BareStore, commits: readonly string[]): Promise<Map<string, SnapshotTrees>> {
  const asked = commits.flatMap((commit) => [`${commit}^{tree}`, `${commit}:worktree`, `${commit}:index`])
  const format = '--batch-check=%(objecttype) %(objectname)'
  const printed = await git.text([...store.at(), 'cat-file', format], {
    input: asked.map((one) => `${one}\n`).join(''),
  })
  const found = printed.split('\n').map((line) => /^tree ([0-9a-f]{40,64})$/.exec(line)?.[1])
  return new Map(
    commits.map((commit, n) => {
      const [all, worktree, index] = found.slice(3 * n)
      if (all === undefined || worktree === undefined) throw strange('a snapshot has no files')
      return [commit, { all, worktree, ...(index === undefined ? {} : { index }) }]
    }),
  )
}

async function kindsOf(git: Git, store: BareStore, oids: readonly string[]): Promise<Map<string, string>> {
  const format = '--batch-check=%(objectname) %(objecttype)'
  const printed = await git.text([...store.at(), 'cat-file', format], { input: oids.map((oid) => `${oid}\n`).join('') })
  return new Map(printed.split('\n').map((line) => line.split(' ') as [string, string]))
}

/** Only what a restore or a comparison uses, in a form that ours have. */
function recordFrom(
  said: SnapshotRecord,
  at: {
    root: string
    session: string
    gitDirectory: string | undefined
    seq: number
    tree: SnapshotTrees
    head: string | undefined
  },
): SnapshotRecord {
  const time = (value: unknown): string =>
    typeof value === 'string' && Number.isFinite(Date.parse(value)) ? new Date(value).toISOString() : EPOCH
  const isBranch =
    typeof said.branch === 'string' && BRANCH.test(said.branch) && !/\.\.|\/\/|\.lock$|[./]$/.test(said.branch)
  const skipped = (Array.isArray(said.skipped) ? said.skipped : []).filter(
    (one) => typeof one?.path === 'string' && typeof one.reason === 'string',
  )
  return {
    v: 1,
    session: at.session,
    seq: at.seq,
    moment: MOMENTS.find((one) => one === said.moment) ?? 'stop',
    ...(Number.isSafeInteger(said.turn) ? { turn: said.turn } : {}),
    at: time(said.at),
    as_of: time(said.as_of),
    root: at.root,
    ...(at.gitDirectory === undefined ? {} : { git_directory: at.gitDirectory }),
    ...(at.head === undefined ? {} : { head: at.head }),
    ...(isBranch ? { branch: said.branch } : {}),
    worktree_tree: at.tree.worktree,
    ...(at.tree.index === undefined ? {} : { index_tree: at.tree.index }),
    nested: [],
    skipped: [
      ...skipped.map(({ path, reason }) => ({ path: path.slice(0, 4_096), reason })),
      ...(Array.isArray(said.nested) ? said.nested : [])
        .filter((one) => typeof one?.path === 'string')
        .map(({ path }) => ({ path: path.slice(0, 4_096), reason: 'nested' as const })),
    ],
    skipped_count: Number.isSafeInteger(said.skipped_count) ? said.skipped_count : skipped.length,
    mode: said.mode === 'whole' ? 'whole' : 'partial',
    exact: said.exact === true,
    late: (Array.isArray(said.late) ? said.late : [])
      .filter((path) => typeof path === 'string')
      .slice(0, MOST_NAMED)
      .map((path) => path.slice(0, 4_096)),
  }
}

const EPOCH = new Date(0).toISOString()
const BRANCH = /^[A-Za-z0-9_][A-Za-z0-9_./+-]{0,199}$/

/** HEAD, index and files in a repository that was made for them. An unfinished merge is not carried: its commits are not there. */
async function checkOutRepository(git: Git, store: BareStore, snapshot: Snapshot): Promise<void> {
  const { root, head, branch = 'main', index_tree } = snapshot
  const gitDirectory = join(root, '.git')
  const details = await detailsOf(store, snapshot, git)
  await bringObjects(git, store, gitDirectory, {
    commits: head === undefined ? [] : [head],
    trees: index_tree === undefined ? [] : [index_tree],
    blobs: details.stages.filter(({ mode, oid }) => mode !== '160000' && OID.test(oid)).map(({ oid }) => oid),
  })
  const at = ['--git-dir', gitDirectory]
  await git.run([...at, 'symbolic-ref', 'HEAD', `refs/heads/${branch}`])
  if (head !== undefined) await git.run([...at, 'update-ref', `refs/heads/${branch}`, head])
  const index = join(gitDirectory, 'index')
  await checkOut(git, store, snapshot.worktree_tree, root, index)
  await setIndex(git, store, snapshot, root, index)
}

async function checkOutFiles(git: Git, store: BareStore, { worktree_tree, root, session }: Snapshot): Promise<void> {
  const index = join(stateDirectory(store.directory), `unpack-${session}`)
  try {
    await checkOut(git, store, worktree_tree, root, index)
  } finally {
    rmSync(index, { force: true })
  }
}

const strange = (because: string): SkeinError =>
  new SkeinError('pack-damaged', `The code in the pack is not what Skein packs: ${because}`, 'Pack the session again')
