// How long `skein handoff --collect` takes to say what a successor would be told: in a repository of 20,000 files, about half of which is a
// large monorepo's checkout, with a log of 50 MB, a long day's conversation. Whoever hands off waits for it. The baseline is `git status`
// in the same repository, with the same cold or warm cache; 500 ms are for starting Node and reading the log.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeClaudeLog } from './big-log.mjs'
import { inScratch, median, report } from './measure.mjs'

const BINARY = join(dirname(dirname(fileURLToPath(import.meta.url))), 'bin', 'skein.js')
const SESSION = '11111111-1111-4111-8111-111111111111'
const FILES = 20_000
const RUNS = 7

await inScratch(async (scratch) => {
  const repo = join(scratch, 'repo')
  for (let folder = 0; folder < 200; folder += 1) {
    const path = join(repo, 'src', `part-${folder}`)
    mkdirSync(path, { recursive: true })
    for (let file = 0; file < FILES / 200; file += 1)
      writeFileSync(join(path, `file-${file}.ts`), `export const n = ${file}\n`)
  }
  const env = { PATH: process.env.PATH, HOME: scratch, SKEIN_HOME: join(scratch, 'skein') }
  const as = ['-c', 'user.name=a', '-c', 'user.email=a@b']
  const git = (...args) =>
    execFileSync('git', ['-C', repo, ...as, ...args], { env, stdio: ['ignore', 'pipe', 'ignore'] })
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'all')
  for (let file = 0; file < 20; file += 1) writeFileSync(join(repo, 'src', 'part-0', `file-${file}.ts`), 'changed\n')
  writeClaudeLog(scratch, 50 * 1024 * 1024)
  const skein = (...args) => {
    const ran = spawnSync(process.execPath, [BINARY, ...args], { env, cwd: repo, encoding: 'utf8' })
    if (ran.status !== 0) throw new Error(`skein ${args.join(' ')}: ${ran.stderr}`)
    return ran.stdout
  }
  mkdirSync(env.SKEIN_HOME, { recursive: true })
  writeFileSync(join(env.SKEIN_HOME, 'config.toml'), '[daemon]\nautostart = false\n')
  const agent = JSON.parse(skein('spawn', repo, '--agent', 'toast', '--tool', 'claude', '--json'))
  const file = join(env.SKEIN_HOME, 'profiles', 'default', 'agents', `${agent.id}.json`)
  const at = '2026-01-17T08:30:00.000Z'
  const log = join(scratch, '.claude', 'projects', '-srv-app', `${SESSION}.jsonl`)
  writeFileSync(
    file,
    JSON.stringify({
      ...{ v: 1, agent: agent.id, recipe: { tool: 'claude', cwd: repo } },
      binding: { session: SESSION, since: at, how: 'chosen', is_confirmed: true, log },
      status: { status: 'stopped', since: at, source: 'process' },
    }),
  )
  const timed = (run) => {
    const begin = performance.now()
    run()
    return performance.now() - begin
  }
  const collect = () => skein('handoff', 'toast', '--collect', '--dry-run')
  if (!collect().includes('Changed files: 20')) throw new Error('the state was not collected')
  git('status')
  const status = median(Array.from({ length: RUNS }, () => timed(() => git('status'))))
  const collected = median(Array.from({ length: RUNS }, () => timed(collect)))
  report('handoff', [
    ['git status in 20,000 files, ms', status],
    ['handoff --collect --dry-run with a log of 50 MB, ms', collected, Math.round(2 * status + 500)],
  ])
})
