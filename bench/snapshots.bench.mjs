// A snapshot is taken at each prompt and each stop of every agent. The reference in the same run is what git itself needs to look at the
// same repository: `git status`, and `git checkout` for a rewind. Sizes: a usual repository, and a large one of 20,000 files and 200 MB.
// Rounds alternate between reference and snapshot, so that other work on the machine meets both.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Snapshots } from '../dist/snapshots.js'
import { inScratch, median, report } from './measure.mjs'

const ROUNDS = 11
/** One-file turns for the size of the store; `--turns=0` leaves that out. */
const TURNS = Number(process.argv.find((arg) => arg.startsWith('--turns='))?.slice(8) ?? 1_000)
const SESSION = 'bench'
const env = {
  PATH: process.env.PATH,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.org',
}
const git = (cwd, ...args) =>
  execFileSync('git', args, { cwd, env, stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 2 ** 30 })

/** Text that does not compress to nothing, the same in each run. */
function text(seed, bytes) {
  const parts = []
  for (let n = 0; n * 64 < bytes; n += 1) parts.push(createHash('sha256').update(`${seed} ${n}`).digest('hex'))
  return parts.join('\n').slice(0, bytes)
}

const fileName = (n) => join(`d${n % 50}`, `s${Math.floor(n / 50) % 50}`, `f${n}.txt`)

/** A repository as a clone leaves it: packed, all files older than the index. */
function makeRepository(root, files, bytes) {
  for (let n = 0; n < files; n += 1) {
    mkdirSync(join(root, fileName(n), '..'), { recursive: true })
    writeFileSync(join(root, fileName(n)), text(n, Math.floor(bytes / files)))
  }
  git(root, 'init', '-q')
  git(root, 'config', 'gc.auto', '0')
  git(root, 'add', '-A')
  git(root, 'commit', '-qm', 'all')
  git(root, 'repack', '-adq')
  git(root, 'prune-packed')
  execFileSync('sleep', ['4'])
  git(root, 'status')
}

const elapsed = async (body) => {
  const from = performance.now()
  await body()
  return performance.now() - from
}

async function paired(rounds, before, reference, subject) {
  const [theirs, ours] = [[], []]
  for (let n = 0; n < rounds; n += 1) {
    await before(n)
    theirs.push(await elapsed(reference))
    ours.push(await elapsed(subject))
  }
  return { theirs: median(theirs), ours: median(ours), ratio: median(ours.map((time, n) => time / theirs[n])) }
}

function bytesIn(directory) {
  let bytes = 0
  for (const name of readdirSync(directory, { recursive: true })) {
    const stat = statSync(join(directory, name), { throwIfNoEntry: false })
    // A file with a second name takes no space of its own.
    if (stat?.isFile() && stat.nlink === 1) bytes += stat.blocks * 512
  }
  return bytes
}

/** 50 files back to what they were; git checks the same files out. The safety snapshot is part of ours. */
async function rewindRows(root, files, snapshots, take) {
  const names = Array.from({ length: 50 }, (_, n) => fileName((n * 397) % files))
  const before = await take(snapshots)
  const spoil = (n) => {
    for (const name of names) writeFileSync(join(root, name), text(`spoiled ${n} ${name}`, 10_000))
  }
  const [theirs, ours, files50] = [[], [], []]
  for (let n = 0; n < 9; n += 1) {
    spoil(n)
    theirs.push(await elapsed(() => void git(root, 'checkout', '-q', '--', ...names)))
    spoil(n + 100)
    await take(snapshots)
    const safety = await elapsed(() => take(snapshots))
    const whole = await elapsed(() => snapshots.rewind(before, { preview: false }))
    ours.push(whole)
    files50.push(Math.max(0, whole - safety))
  }
  const toGit = (times) => median(times.map((time, n) => time / theirs[n]))
  const [whole, alone] = [median(ours), median(files50)].map((time) => `${time.toFixed(0)} ms`)
  const reference = `git ${median(theirs).toFixed(0)} ms`
  const what = `${files} files: rewind of 50`
  return [
    [`${what}, x git checkout`, toGit(ours), 2, `(${whole} with its safety snapshot, ${reference})`],
    // Git takes no snapshot of what it overwrites; that one looks at every file of the worktree, as git status does.
    [`${what} less the snapshot, x git checkout`, toGit(files50), 2, `(${alone}, ${reference})`],
  ]
}

/** 1,000 turns that change one file each, with the upkeep that runs when a store has grown. */
async function sizeRows(root, directory, snapshots, take) {
  await take(snapshots)
  for (let n = 0; n < TURNS; n += 1) {
    const name = join(root, fileName((n * 37) % 20_000))
    writeFileSync(name, `${readFileSync(name, 'utf8')}\nturn ${n}\n`)
    await take(snapshots)
    await take(snapshots)
    if (n % 50 === 49) await snapshots.collect({ onlyDue: true })
  }
  return [[`20000 files: store after ${TURNS} one-file turns, MB`, bytesIn(directory) / 1e6, 30]]
}

await inScratch(async (directory) => {
  const rows = []
  for (const [files, bytes] of [
    [1_000, 10_000_000],
    [20_000, 200_000_000],
  ]) {
    const root = join(directory, `project-${files}`)
    mkdirSync(root)
    makeRepository(root, files, bytes)
    const status = () => void git(root, 'status', '--porcelain')
    const open = (name) =>
      new Snapshots({
        directory: join(directory, name),
        program: { executable: 'git', searchPath: process.env.PATH ?? '' },
        now: () => Date.now(),
      })
    const take = (snapshots) => snapshots.capture({ directory: root, session: SESSION, moment: 'stop' })
    const add = (what, { theirs, ours, ratio }, limit) =>
      rows.push([
        `${files} files: ${what}, x git status`,
        ratio,
        limit,
        `(${ours.toFixed(0)} ms, git ${theirs.toFixed(0)} ms)`,
      ])

    let nth = 0
    add(
      'first snapshot',
      await paired(
        5,
        () => {},
        status,
        () => take(open(`first-${files}-${nth++}`)),
      ),
      3,
    )
    const snapshots = open(`stores-${files}`)
    await take(snapshots)
    add(
      'no change',
      await paired(
        ROUNDS,
        () => {},
        status,
        () => take(snapshots),
      ),
      1.3,
    )
    const change = (n) => writeFileSync(join(root, fileName((n * 37) % files)), text(`changed ${n}`, 10_000))
    add('one changed file', await paired(ROUNDS, change, status, () => take(snapshots)), 1.6)
    git(root, 'checkout', '-q', '.')
    await take(snapshots)

    const large = join(root, 'large.bin')
    const without = []
    for (let n = 0; n < ROUNDS; n += 1) without.push(await elapsed(() => take(snapshots)))
    writeFileSync(large, Buffer.alloc(200_000_000, 'large '))
    await take(snapshots)
    const withLarge = []
    for (let n = 0; n < ROUNDS; n += 1) withLarge.push(await elapsed(() => take(snapshots)))
    rows.push([`${files} files: a 200 MB untracked file, ms more`, median(withLarge) - median(without), 10])
    execFileSync('rm', [large])
    rows.push(...(await rewindRows(root, files, snapshots, take)))
    if (files === 20_000 && TURNS > 0)
      rows.push(...(await sizeRows(root, join(directory, 'thousand'), open('thousand'), take)))
  }
  report('snapshots', rows)
})
