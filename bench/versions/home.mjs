// The home that two versions of Skein are compared on: everything that a user may have, made by the older of them.
import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { NOW } from './program.mjs'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const FIXTURES = join(root, 'test', 'fixtures')

/** Sessions with ids that a comparison can name. */
export const FIRST = '0f3c9a12-first'
export const SECOND = '7d20b1c4-second'
export const ACTIVE = '5e8fa07b-active'
export const LOGGED = '22222222-2222-4222-8222-222222222222'

/** @param {import('./program.mjs').Program} skein @param {{mb: number, sessions: number}} size of the corpus of logs */
export function makeHome(skein, size) {
  const { home } = skein
  for (const name of ['project', 'skein', 'other/.skein']) mkdirSync(join(home, name), { recursive: true })
  writeLogs(home, size)
  writeSettings(home)
  // Half a minute from one command to the next, more than any of them takes, and all of it before the time of the comparison.
  let count = 0
  const type = (args, options = {}) => {
    count += 1
    return skein.mustRun(args, { at: NOW - 7_200_000 + count * 30_000, seed: count, ...options })
  }
  makeRoster(type)
  makeSessions(type)
  type(['ingest'])
  type(['session', 'start', '--id', LOGGED, '--resume', '--agent', 'web/honey', '--work', 'wk-9'])
  makeConversations(type)
  type(['events', 'append', 'mail', '--agent', 'web/toast', '--payload', '{"subject":"hello"}'])
  type(['events', 'append', 'nudge', '--session', ACTIVE])
  runAgents(skein, type)
  type(['archive', 'web/jam'])
  type(['remove', 'scout'])
  type(['profile', 'create', 'play'])
  loseLog(home)
  type(['ingest'])
}

function writeLogs(home, { mb, sessions }) {
  const out = join(home, '.claude')
  const settings = Object.entries({ mb, sessions, seed: 7, out }).flatMap(([name, value]) => [`--${name}`, `${value}`])
  execFileSync(process.execPath, [join(root, 'bench', 'gen-corpus.mjs'), ...settings], { stdio: 'ignore' })
  const claude = join(home, '.claude', 'projects', '-srv-web')
  const seven = join(FIXTURES, 'claude', '2.1.325', 'interactive-7turns-tools-subagent')
  const copy = (from, ...to) => cpSync(from, join(home, ...to), { recursive: true, preserveTimestamps: false })
  mkdirSync(claude, { recursive: true })
  copy(`${seven}.jsonl`, '.claude', 'projects', '-srv-web', `${LOGGED}.jsonl`)
  copy(seven, '.claude', 'projects', '-srv-web', LOGGED)
  const logsIn = (...names) => {
    const directory = join(FIXTURES, ...names)
    const isLog = (name) => /\.jsonl?$/.test(name) && !name.endsWith('.expect.json')
    return readdirSync(directory)
      .filter(isLog)
      .map((name) => [join(directory, name), name])
  }
  for (const [from, name] of logsIn('codex', '0.166.0')) copy(from, '.codex', 'sessions', '2026', '11', '15', name)
  for (const [from, name] of logsIn('gemini', '0.61.0')) copy(from, '.gemini', 'tmp', 'project', 'chats', name)
  for (const [from, name] of logsIn('qwen', '0.15.10')) copy(from, '.qwen', 'projects', '-srv-web', 'chats', name)
}

/** A log that its tool has deleted: only the archive has it. */
function loseLog(home) {
  const projects = join(home, '.claude', 'projects')
  const [project] = readdirSync(projects).filter((name) => name !== '-srv-web')
  const directory = join(projects, project)
  const [log] = readdirSync(directory).filter((name) => name.endsWith('.jsonl'))
  rmSync(join(directory, log))
}

function writeSettings(home) {
  writeFileSync(
    join(home, 'skein', 'config.toml'),
    `[daemon]
autostart = false

[archive]
max_age = "3650d"

[prices."stub-model"]
input = 1
output = 2

[tools.vibe]
command = "vibe --quiet"
icon = "♪"
busy_patterns = ["executing", "re:^running tool"]
prompt_patterns = ["approve?", "[y/n]"]
idle_patterns = ["ready"]
resume_flag = "--resume"
[tools.vibe.env]
VIBE_MODE = "quick"

[tools.echo]
command = ["sh", ${JSON.stringify(join(home, 'echo-agent.sh'))}]
busy_patterns = ["re:^working"]
idle_patterns = ["re:^ready> *$"]
`,
  )
  writeFileSync(
    join(home, 'echo-agent.sh'),
    `while printf 'ready> '; read -r line; do [ "$line" = fail ] && exit 3; printf working; sleep 1; printf '\\r\\033[Kyou said: %s\\n' "$line"; done\n`,
  )
  writeFileSync(join(home, 'other', '.skein', 'privacy.yaml'), 'tools:\n  Bash: none\n')
  cpSync(join(FIXTURES, 'claude', 'panes', 'permission-bash.txt'), join(home, 'project', 'pane.txt'))
}

function makeRoster(type) {
  type(['agents', 'add', 'web/toast', '--tool', 'claude', '--role', 'builder'])
  type(['agents', 'set', 'web/toast', '--title', 'Front end'])
  type(['agents', 'add', 'web/butter', '--tool', 'codex', '--parent', 'web/toast'])
  type(['agents', 'add', 'web/jam', '--tool', 'gemini'])
  type(['agents', 'add', 'web/honey', '--tool', 'claude', '--role', 'reviewer'])
  type(['agents', 'add', 'kitchen/knife', '--tool', 'claude'])
  type(['agents', 'add', 'scout', '--tool', 'codex', '--parent', 'web/toast'])
  for (const group of ['ops', 'lab', 'web/mobile']) type(['group', 'create', group])
  type(['agents', 'rename', 'kitchen/knife', 'spoon'])
  type(['agents', 'move', 'kitchen/spoon', 'ops'])
}

function makeSessions(type) {
  type(['session', 'start', '--id', FIRST, '--agent', 'web/toast', '--title', 'Fix the login', '--work', 'wk-42'])
  type(['session', 'update', FIRST, '--branch', 'login', '--commit', '4f2a91c', '--model', 'opus'])
  type(['session', 'step', 'start', 'reproduce', FIRST, '--molecule', 'mol-7'])
  type(['session', 'step', 'complete', 'reproduce', FIRST])
  type(['session', 'handoff', FIRST, '--id', SECOND, '--subject', 'half done', '--message', 'Tests are red'])
  type(['session', 'end', SECOND, '--outcome', 'crash', '--reason', 'pane died'])
  type(['session', 'start', '--id', '3b7d11e0-third', '--parent', SECOND, '--link', 'crash'])
  type(['session', 'start', '--id', '9c11d2ab-fork', '--fork-of', `${FIRST}:3`, '--tool', 'claude'])
  type(['session', 'end', '9c11d2ab-fork', '--outcome', 'done'])
  type(['session', 'start', '--id', ACTIVE, '--agent', 'web/butter', '--title', 'Write the docs', '--work', 'wk-43'])
  type(['session', 'step', 'start', 'tests', ACTIVE])
  type(['session', 'step', 'complete', 'tests', ACTIVE, '--failed'])
  type(['session', 'start', '--id', 'c3d94e60-active', '--tool', 'pi', '--title', 'Größe 日本語 <b>"quoted"</b>'])
}

function makeConversations(type) {
  type(['conversations', 'import', 'openclaw', join(FIXTURES, 'openclaw-stores', '2026.7.1')])
  type(['conversations', 'set', 'agent:main:main', 'label=Ada', 'sendPolicy=deny'])
}

/** One agent that was stopped, one that failed, and one that was never started. The tmux server is gone afterwards. */
function runAgents(skein, type) {
  const start = (name) =>
    type(['start', join(skein.home, 'project'), '--agent', name, '--tool', 'echo', '--title', `Runs ${name}`], {
      runs: true,
    })
  try {
    for (const name of ['web/echo', 'lab/fails']) start(name)
    type(['send', 'web/echo', 'hello'], { runs: true })
    type(['stop', 'web/echo'], { runs: true })
    type(['send', 'lab/fails', 'fail'], { runs: true })
    // Looking is what writes down how it ended.
    for (let look = 0; look < 60 && !/exited 3/.test(type(['list', '--json'], { runs: true })); look += 1) {}
  } finally {
    const socket = join(skein.home, 'skein', 'tmux.sock')
    spawnSync('tmux', ['-S', socket, 'kill-server'], { env: skein.env, stdio: 'ignore' })
    rmSync(socket, { force: true }) // a home that is copied has none
  }
  appendFileSync(join(skein.home, 'project', 'notes.txt'), 'what a user keeps beside it\n')
}
