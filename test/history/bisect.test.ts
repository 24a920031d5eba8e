import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FileLock, processStat } from '../../src/disk/index.js'
import { type Bisection, type BisectRequest, bisect } from '../../src/history/bisect/bisect.js'
import type { SessionHistory } from '../../src/history/index.js'
import type { Snapshot } from '../../src/snapshots/index.js'
import type { Snapshots } from '../../src/snapshots/snapshots.js'
import { filesOf, ScratchRepository } from '../snapshots/scratch-repository.js'
import { seededRandom } from '../support/random.js'

const SESSION = '22222222-2222-4222-8222-222222222222'

interface Recorded {
  snapshots: Snapshots
  /** The beginnings of the turns. */
  starts: string[]
}

/** Turns that each write their number into a file. */
async function record(repository: ScratchRepository, count: number): Promise<Recorded> {
  const snapshots = repository.snapshots()
  const starts: string[] = []
  for (let turn = 1; turn <= count; turn += 1) {
    const { as_of } = await snapshots.capture({ directory: repository.root, session: SESSION, moment: 'prompt' })
    starts.push(as_of)
    repository.write('n.txt', `${turn}\n`)
    await snapshots.capture({ directory: repository.root, session: SESSION, moment: 'stop' })
  }
  return { snapshots, starts }
}

const historyOf = (starts: readonly string[]): SessionHistory =>
  ({
    session: { id: SESSION },
    turns: starts.map((started_at, n) => ({ number: n + 1, started_at, prompt: `turn ${n + 1}\nmore`, copied: false })),
  }) as unknown as SessionHistory

function search(
  { snapshots, starts }: Recorded,
  request: Partial<BisectRequest> & { run: string },
  kept: (snapshot: Snapshot) => Snapshot | undefined = (one) => one,
): Promise<Bisection> {
  const sources = {
    turns: async () => historyOf(starts),
    snapshots: {
      list: async () => (await snapshots.list(SESSION)).flatMap((one) => kept(one) ?? []),
      scratch: (one: Snapshot) => snapshots.scratch(one),
    },
  }
  const env = { PATH: process.env.PATH }
  const signal = new AbortController().signal
  return bisect(sources, { session: SESSION, partial: false, limitMs: 60_000, env, signal, ...request })
}

const scratches = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('skein-scratch-'))

describe('bisect', () => {
  it('finds the planted turn in at most log2(turns) + 1 runs', async () => {
    const random = seededRandom()
    using repository = ScratchRepository.withCommits()
    repository.write('n.txt', '0\n')
    const all = await record(repository, 24)
    const before = [repository.status(), repository.git('worktree', 'list'), repository.git('for-each-ref')]
    const files = filesOf(repository.root)
    let most = 0
    for (let round = 0; round < 12; round += 1) {
      const count = 2 + random(23)
      const planted = 1 + random(count)
      const own = { ...all, starts: all.starts.slice(0, count) }
      const next = all.starts[count] ?? '~'
      const found = await search(own, { run: `test "$(cat n.txt)" -lt ${planted}` }, (one) =>
        one.as_of < next ? one : undefined,
      )
      expect(found).toMatchObject({ outcome: 'found', turn: planted, prompt: `turn ${planted}`, skipped: [] })
      const bound = planted === 1 ? Math.ceil(Math.log2(count)) + 1 : Math.floor(Math.log2(count)) + 1
      expect(found.runs.length).toBeLessThanOrEqual(bound)
      most = Math.max(most, found.runs.length - Math.log2(count))
    }
    console.info(`12 planted turns found; at most log2(turns) + ${most.toFixed(2)} runs`)
    expect([repository.status(), repository.git('worktree', 'list'), repository.git('for-each-ref')]).toEqual(before)
    expect(filesOf(repository.root)).toEqual(files)
  })

  it('says that the command never fails, that it failed before the first turn, and what was skipped', async () => {
    using repository = ScratchRepository.withCommits()
    repository.write('n.txt', '0\n')
    const own = await record(repository, 5)
    expect(await search(own, { run: 'true' })).toMatchObject({ outcome: 'never' })
    expect(await search(own, { run: 'echo no; exit 3' })).toMatchObject({
      outcome: 'before',
      runs: expect.arrayContaining([expect.objectContaining({ edge: 'before', exit_code: 3, output: 'no\n' })]),
    })
    const some = await search(own, { run: 'n=$(cat n.txt); test $n = 3 && exit 125; test $n -lt 4' })
    expect(some).toMatchObject({ outcome: 'among', turns: [3, 4], skipped: [{ turn: 3, reason: 'exit-125' }] })
    const stop = (n: number) => (one: Snapshot) => one.moment === 'stop' && one.seq === n * 2
    const lacking = await search(own, { run: 'test "$(cat n.txt)" -lt 5' }, (one) =>
      stop(1)(one) || stop(2)(one) ? undefined : stop(3)(one) ? { ...one, mode: 'partial' } : one,
    )
    expect(lacking).toMatchObject({
      outcome: 'found',
      turn: 5,
      skipped: [
        { turn: 1, reason: 'no-snapshot' },
        { turn: 2, reason: 'no-snapshot' },
        { turn: 3, reason: 'partial' },
      ],
    })
    const known = await search(own, { run: 'test "$(cat n.txt)" -lt 4', good: 3, bad: 4 })
    expect(known).toMatchObject({ outcome: 'found', turn: 4, runs: [] })
    await expect(search(own, { run: 'true', good: 4, bad: 2 })).rejects.toMatchObject({ code: 'bad-input' })
    const late = await search(own, { run: 'test "$(cat n.txt)" -lt 2 || sleep 30', limitMs: 300, good: 1, bad: 3 })
    expect(late).toMatchObject({ outcome: 'found', turn: 2, runs: [{ is_late: true, verdict: 'failed' }] })
  })

  it('shows exactly the files of the turn, whatever the run before left, and keeps what the setup made', async () => {
    using repository = ScratchRepository.withCommits()
    repository.write('n.txt', '0\n')
    const own = await record(repository, 4)
    const user = join(repository.base, 'victim')
    mkdirSync(user)
    writeFileSync(join(user, 'HEAD'), 'mine\n')
    const run = [
      'test ! -e left && test -e made && test "$(git status --porcelain)" != "" || exit 9',
      'test "$(cat a.txt)" = "a, second" || exit 9',
      `touch left; echo x > a.txt; rm -rf .git src; ln -s ${user} .git; ln -s ${user} src`,
      'test "$(cat n.txt)" -lt 3',
    ]
    const found = await search(own, { run: run.join('\n'), setup: 'touch made' })
    expect(found.runs.filter(({ exit_code }) => exit_code === 9)).toEqual([])
    expect(found).toMatchObject({ outcome: 'found', turn: 3 })
    expect(filesOf(user)).toEqual(new Map([['HEAD', 'file mine\n']]))
    await expect(search(own, { run: 'true', setup: 'echo bad; exit 4' })).rejects.toMatchObject({
      code: 'setup-failed',
      details: ['bad'],
    })
  })

  it('an interrupt ends the command and leaves no worktree, and what a killed process left is swept', async () => {
    using repository = ScratchRepository.withCommits()
    repository.write('n.txt', '0\n')
    const own = await record(repository, 2)
    const stopped = new AbortController()
    const mark = join(repository.base, 'mark')
    const running = search(own, { run: `pwd > ${mark}.tmp; mv ${mark}.tmp ${mark}; sleep 60`, signal: stopped.signal })
    running.catch(() => {})
    while (!existsSync(mark)) await new Promise((resolve) => setTimeout(resolve, 20))
    const [scratch = ''] = /[^\n]*skein-scratch-[^/]+/.exec(filesOf(repository.base).get('mark')?.slice(5) ?? '') ?? []
    expect(existsSync(scratch)).toBe(true)
    // One whose process lives is left alone, however old it is.
    utimesSync(scratch, 0, 0)
    await repository.snapshots().collect({ onlyDue: true })
    expect(existsSync(scratch)).toBe(true)
    stopped.abort()
    await expect(running).rejects.toMatchObject({ code: 'interrupted' })
    expect(existsSync(scratch)).toBe(false)
    const left = await abandoned()
    expect(scratches()).toContain(left)
    await repository.snapshots().collect({ onlyDue: true })
    expect(scratches()).not.toContain(left)
    // One that is just being made is not: its lock may not be held yet.
    const young = mkdtempSync(join(tmpdir(), 'skein-scratch-'))
    await repository.snapshots().collect({ onlyDue: true })
    expect(existsSync(young)).toBe(true)
    rmSync(young, { recursive: true })
  })

  it('ends what the command left in the background, and says which turn is tried', async () => {
    using repository = ScratchRepository.withCommits()
    const recorded = await record(repository, 4)
    const pids = join(repository.base, 'pids')
    const run = `(trap "" TERM; sleep 300) & echo $! >> ${pids}; sleep 300 & echo $! >> ${pids}; test "$(cat n.txt)" -lt 3`
    const { turn } = await search(recorded, { run })
    expect(turn).toBe(3)
    const left = (): number[] =>
      readFileSync(pids, 'utf8')
        .trim()
        .split('\n')
        .map(Number)
        .filter((pid) => !['', 'Z', 'X'].includes(processStat(pid)?.state ?? ''))
    for (const until = Date.now() + 10_000; left().length > 0 && Date.now() < until; )
      await new Promise((resolve) => setTimeout(resolve, 50))
    expect(left()).toEqual([])
  })
})

/** A directory of a process that is gone: its lock file is there, and nobody holds it. */
async function abandoned(): Promise<string> {
  const path = mkdtempSync(join(tmpdir(), 'skein-scratch-'))
  const lock = await new FileLock(join(path, 'lock')).hold(0)
  lock[Symbol.dispose]()
  utimesSync(path, 0, 0)
  return basename(path)
}
