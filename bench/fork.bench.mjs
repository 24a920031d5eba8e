// A fork is `git worktree add` and a little more: the files of a past turn instead of a commit's, a copy of the conversation, an agent. The
// reference in the same run is `git worktree add` of the commit that the turn was at. Both are timed as a user meets them: from the start of
// the command, ours to the first line of the agent's program. Rounds alternate.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openHome } from '../dist/library.js'
import { inScratch, median, report } from './measure.mjs'

const ROUNDS = 7
/** What a fork may take beside the files: Skein's start, the conversation, the agent, tmux. */
const ALLOWED_MS = 300
const SKEIN = join(dirname(dirname(fileURLToPath(import.meta.url))), 'bin', 'skein.js')
const SESSION = '7d1b3c2a-5f60-4e6d-9c3b-2a1f0e9d8c7b'
const TURNS = 5

const fileName = (n) => join(`d${n % 50}`, `s${Math.floor(n / 50) % 50}`, `f${n}.txt`)
const text = (seed, bytes) => {
  const parts = []
  for (let n = 0; n * 64 < bytes; n += 1) parts.push(createHash('sha256').update(`${seed} ${n}`).digest('hex'))
  return parts.join('\n').slice(0, bytes)
}

await inScratch(async (directory) => {
  const rows = []
  for (const [files, bytes] of [
    [1_000, 10_000_000],
    [20_000, 200_000_000],
  ])
    rows.push(...(await measured(join(directory, String(files)), files, bytes)))
  report('fork', rows)
})

async function measured(root, files, bytes) {
  const [project, bin, started] = ['project', 'bin', 'started'].map((name) => join(root, name))
  for (const path of [project, bin]) mkdirSync(path, { recursive: true })
  writeFileSync(join(bin, 'claude'), `#!/bin/sh\ndate +%s%N > ${started}\nexec sleep 1000\n`)
  chmodSync(join(bin, 'claude'), 0o755)
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: root, SKEIN_HOME: join(root, 'skein'), TMUX_TMPDIR: root }
  const git = (...args) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], {
      cwd: project,
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  for (let n = 0; n < files; n += 1) {
    mkdirSync(join(project, fileName(n), '..'), { recursive: true })
    writeFileSync(join(project, fileName(n)), text(n, Math.floor(bytes / files)))
  }
  git('init', '-q')
  git('add', '-A')
  git('commit', '-qm', 'all')
  git('repack', '-adq')
  git('prune-packed')
  Object.assign(process.env, env)
  const home = await openHome({ home: env.SKEIN_HOME, onWarning: () => {} })
  await session(home, root, project)
  await home[Symbol.asyncDispose]()

  const skein = (...args) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [SKEIN, ...args, '--json'], { env, cwd: project })
    if (status !== 0) throw new Error(`skein ${args.join(' ')}: ${stdout} ${stderr}`)
    return JSON.parse(stdout)
  }
  const [theirs, ours] = [[], []]
  try {
    for (let n = 0; n <= ROUNDS; n += 1) {
      const tree = join(root, `reference-${n}`)
      const from = performance.now()
      git('worktree', 'add', '-q', '-b', `reference-${n}`, tree, 'HEAD')
      const reference = performance.now() - from
      rmSync(tree, { recursive: true })

      rmSync(started, { force: true })
      const begun = Date.now()
      const { forks } = skein('fork', SESSION, '--turn', '3')
      const fork = Number(readFileSync(started, 'utf8')) / 1e6 - begun
      const [{ agent, worktree }] = forks
      if (readFileSync(join(worktree, fileName(3)), 'utf8') !== 'turn 3\n') throw new Error('not the files of the turn')
      skein('remove', agent.address, '--force')
      rmSync(worktree, { recursive: true })
      git('worktree', 'prune')
      if (n === 0) continue // the first starts tmux and the daemon
      theirs.push(reference)
      ours.push(fork)
    }
  } finally {
    skein('kill', '--all')
    skein('daemon', 'stop') // last: any other command starts one, which would write into what is being removed
    spawnSync('tmux', ['-L', 'skein', 'kill-server'], { env })
  }
  const ratio = median(ours.map((time, n) => (time - ALLOWED_MS) / theirs[n]))
  const note = `(${median(ours).toFixed(0)} ms, git ${median(theirs).toFixed(0)} ms)`
  return [
    [`${files} files: fork to the start of its program, less ${ALLOWED_MS} ms, x git worktree add`, ratio, 1.3, note],
  ]
}

/** Turns of a conversation, each of which changed a file, with their snapshots. */
async function session(home, root, project) {
  const lines = []
  let parent = null
  const at = (second) => new Date(Date.UTC(2026, 10, 16, 8, 0, second)).toISOString()
  const line = (type, second, message) => {
    const uuid = `u${lines.length}`
    const facts = { sessionId: SESSION, cwd: project, version: '2.1.325', timestamp: at(second) }
    lines.push({
      type,
      uuid,
      parentUuid: parent,
      ...facts,
      message,
      ...(type === 'user' ? { promptSource: 'typed' } : {}),
    })
    parent = uuid
  }
  for (let turn = 1; turn <= TURNS; turn += 1) {
    const second = turn * 10
    const snapshot = { directory: project, session: SESSION }
    line('user', second, { role: 'user', content: `do ${turn}` })
    await home.snapshots.capture({ ...snapshot, asOfMs: Date.parse(at(second)), moment: 'prompt' })
    writeFileSync(join(project, fileName(turn)), `turn ${turn}\n`)
    const content = [{ type: 'text', text: `done ${turn}` }]
    line('assistant', second + 2, { id: `m${turn}`, role: 'assistant', content, stop_reason: 'end_turn' })
    await home.snapshots.capture({ ...snapshot, asOfMs: Date.parse(at(second + 3)), moment: 'stop' })
  }
  const log = join(root, '.claude/projects', project.replace(/[^A-Za-z0-9]/g, '-'), `${SESSION}.jsonl`)
  mkdirSync(dirname(log), { recursive: true })
  writeFileSync(log, lines.map((one) => `${JSON.stringify(one)}\n`).join(''))
  await home.history.ingest({})
}
