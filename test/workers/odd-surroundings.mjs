// Builds a home with agents, logs of every tool and a daemon, puts something odd in the place of every file that Skein reads and
// did not write, and runs the commands. Runs as the first process of a pid namespace: all that it starts ends with it.
// argv: directory, kind of oddity, 'grouped' or 'each'. Prints one JSON line per failure and one with the counts at the end.
import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { mountDead } from './dead-mount.mjs'

const [scene, kind, mode] = process.argv.slice(2)
const BINARY = process.env.SKEIN_TEST_BINARY || fileURLToPath(new URL('../../bin/skein.js', import.meta.url))
const FIXTURES = fileURLToPath(new URL('../fixtures', import.meta.url))
/** Of the processor: a machine that is busy with something else says nothing about us. */
const CPU_SECONDS = 5
/** Whoever has not answered by then waits for ever. */
const HUNG_MS = 180_000
const CLAUDE = '22222222-2222-4222-8222-222222222222'
const CODEX = 'rollout-2026-11-15T09-58-46-01a1dea5-22e0-77f2-b9d7-977ec2c1c576.jsonl'

/** What the programs show: a start that sees it need not wait whether they live on. */
const IDLE_SCREENS = {
  claude: 'auto-00-idle.txt',
  codex: 'idle.txt',
  gemini: 'idle.txt',
  pi: 'idle.txt',
  opencode: 'wide-idle.txt',
}

const at = (path) => join(scene, path)
const put = (path, content, mode = 0o644) => {
  mkdirSync(dirname(at(path)), { recursive: true })
  writeFileSync(at(path), content, { mode })
}
const copy = (from, path) => {
  mkdirSync(dirname(at(path)), { recursive: true })
  copyFileSync(join(FIXTURES, from), at(path))
}
const env = {
  PATH: `${at('bin')}:${dirname(process.execPath)}:/usr/bin:/bin`,
  HOME: scene,
  LANG: 'C.UTF-8',
  TZ: 'UTC',
  SKEIN_ACTOR: 'ada',
  TMUX_TMPDIR: scene,
}

function build() {
  for (const [tool, screen] of Object.entries(IDLE_SCREENS)) {
    copy(`${tool}/panes/${screen}`, `${tool}.screen`)
    put(`bin/${tool}`, `#!/bin/sh\ncat ${at(`${tool}.screen`)}\nexec sleep 100000\n`, 0o755)
  }
  put('bin/package.json', '{"version":"1.2.3","bin":"x"}')
  const git = (...args) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: at('project'), env })
  mkdirSync(at('project'), { recursive: true })
  git('init', '-q', '-b', 'main')
  git('commit', '-q', '--allow-empty', '-m', 'first')
  git('worktree', 'add', '-q', at('worktree'))
  mkdirSync(at('elsewhere'))
  put('project/.skein/privacy.yaml', 'tool_privacy: { Bash: none }\n')
  put('worktree/.gastown/privacy.yaml', 'tool_privacy: { Read: none }\n')
  put('project/.mcp.json', '{"mcpServers":{}}')
  const log = readFileSync(join(FIXTURES, 'claude/2.1.325/print-5turns-resumed.jsonl'), 'utf8')
  put(`.claude/projects/-srv/${CLAUDE}.jsonl`, log.replace(/"cwd":"[^"]*"/g, `"cwd":"${at('project')}"`))
  cpSync(join(FIXTURES, 'claude/2.1.325/interactive-7turns-tools-subagent'), at(`.claude/projects/-srv/${CLAUDE}`), {
    recursive: true,
  })
  const typed = { display: '/clear', timestamp: 1, project: at('project'), sessionId: CLAUDE }
  put('.claude/history.jsonl', `${JSON.stringify(typed)}\n`)
  put('.claude/settings.json', '{}')
  put('.claude.json', '{"mcpServers":{}}')
  put('.codex/config.toml', 'model_provider = "mine"\n')
  copy(`codex/0.166.0/${CODEX}`, `.codex/sessions/2026/11/15/${CODEX}`)
  put('.gemini/settings.json', '{}')
  put('.gemini/projects.json', '{"projects":{}}')
  put('.gemini/tmp/new/.project_root', at('project'))
  copy(
    'gemini/0.61.0/session-2026-11-15T10-05-99999999.jsonl',
    '.gemini/tmp/new/chats/session-2026-11-15T10-05-99999999.jsonl',
  )
  copy(
    'gemini/0.24.0/session-2026-01-10T09-00-5f2c1a7e.json',
    '.gemini/tmp/new/chats/session-2026-01-10T09-00-5f2c1a7e.json',
  )
  copy('opencode/1.18.33/opencode.db', '.local/share/opencode/opencode.db')
  copy(
    'pi/0.87.1/2026-11-15T10-04-36-893Z_my-session.01.jsonl',
    '.pi/agent/sessions/--srv--/2026-11-15T10-04-36-893Z_my-session.01.jsonl',
  )
  cpSync(join(FIXTURES, 'openclaw-stores/2026.7.1-agent-run'), at('.openclaw'), { recursive: true })
  put('named-by-a-hook.jsonl', log)
  put('variables.env', 'A=b\n')
  put('policy.json', '{"default":"allow"}')
  put('screen.txt', 'nothing\n')
  for (const home of ['home', 'bare']) {
    const settings = `[daemon]\nautostart = false\n[notify]\nby = []\n[tools.mine]\ncommand = "sleep 100000"\nenv_file = "${at('variables.env')}"\n`
    put(`${home}/config.toml`, settings)
    put(`${home}/privacy.yaml`, 'tool_privacy: { Bash: metadata }\n')
    put(`${home}/patterns/pi.json`, readFileSync(PI_RULES, 'utf8'))
  }
}
const PI_RULES = fileURLToPath(new URL('../../src/tools/patterns/pi.json', import.meta.url))

/** Places that do not hide each other are made odd together, or each alone. The first of a pair names what the second needs. */
const GROUPS = () => [
  [
    'project/.git/HEAD',
    `.claude/projects/-srv/${CLAUDE}.jsonl`,
    '.claude/history.jsonl',
    '.claude.json',
    `.codex/sessions/2026/11/15/${CODEX}`,
    '.gemini/tmp/new/chats/session-2026-11-15T10-05-99999999.jsonl',
    '.gemini/projects.json',
    '.local/share/opencode/opencode.db',
    '.pi/agent/sessions/--srv--/2026-11-15T10-04-36-893Z_my-session.01.jsonl',
    '.openclaw/agents/main/sessions/e47fa7b2-da41-4809-b438-4674e9a0f6b4.jsonl',
    'named-by-a-hook.jsonl',
    ...registry,
    'home/profiles/default/spool/1-1.msg',
    'bare/profiles/default/spool/1-1.msg',
    'bin/package.json',
  ],
  [
    'project/.git',
    'worktree/.git',
    `.claude/projects/-srv/${CLAUDE}/subagents`,
    '.claude/sessions',
    '.codex/config.toml',
    '.codex/sessions/2026/11/15',
    '.gemini/tmp/new/chats/session-2026-01-10T09-00-5f2c1a7e.json',
    '.gemini/tmp/new/.project_root',
    '.gemini/settings.json',
    '.local/share/opencode/opencode.db-wal',
    '.pi/agent/sessions/--srv--',
    '.openclaw/agents/main/sessions/sessions.json',
    'project/.mcp.json',
    'project/.skein/privacy.yaml',
  ],
  [
    'project/.git/worktrees/worktree/HEAD',
    'worktree/.gastown/privacy.yaml',
    '.local/share/opencode/opencode.db-shm',
    '.claude/projects/-srv',
    '.codex/sessions',
    '.gemini/tmp/new/chats',
    '.openclaw/agents/main/sessions',
    'variables.env',
  ],
  ['project', 'worktree', '.claude', '.codex', '.gemini', '.local/share/opencode', '.pi', '.openclaw', 'bin/claude'],
  [
    'home/privacy.yaml',
    'bare/privacy.yaml',
    'home/tmux.sock',
    'bare/tmux.sock',
    'home/patterns/pi.json',
    'bare/patterns/pi.json',
  ],
  ['home/patterns', 'bare/patterns'],
  ['home/config.toml', 'bare/config.toml'],
]

const ODD = {
  pipe: (path) => execFileSync('mkfifo', [path]),
  device: (path) => symlinkSync('/dev/zero', path),
  directory: (path) => mkdirSync(path),
  link: (path) => symlinkSync('nowhere/at/all', path),
  sparse: (path) => {
    // By its descriptor: the daemon may take a message away in between.
    const file = openSync(path, 'w')
    ftruncateSync(file, 10e9)
    closeSync(file)
  },
}

/** Returns what puts it back. */
function makeOdd(path) {
  const full = at(path)
  if (!existsSync(dirname(full))) return () => {}
  const before = lstatSync(full, { throwIfNoEntry: false })
  if (kind === 'dead') return mayBeMount(path, before) ? mountDead(full) : () => {}
  if (kind === 'unreadable') {
    if (!before) return () => {}
    chmodSync(full, 0)
    return () => chmodSync(full, before.mode & 0o777)
  }
  const kept = `${full}.kept`
  if (before) renameSync(full, kept)
  ODD[kind](full)
  return () => {
    rmSync(full, { recursive: true, force: true })
    if (before) renameSync(kept, full)
  }
}

/** A directory or a file of others, or the settings, which may be a link to anywhere: what is in a home is on the home's own file system. */
const mayBeMount = (path, before) =>
  (before?.isFile() || before?.isDirectory()) && (!/^(home|bare)\//.test(path) || path.endsWith('config.toml'))

const READS = [
  ['list', '--json'],
  ['status'],
  ['why', 'web/live'],
  ['output', 'web/live'],
  ['sessions', 'list'],
  ['show', CLAUDE],
  ['ingest'],
  ['cost'],
  ['search', 'fib'],
  ['archive', 'verify'],
  ['privacy', 'apply', '--dry-run'],
  ['purge', '--pattern', 'nothing-at-all'],
  ['tool', 'list'],
  ['export', CLAUDE],
  ['doctor', '--record', 'web/live'],
  ['conversations', 'import', 'openclaw', '~openclaw', '--dry-run'],
  ['conversations', 'list', '--files', '~openclaw'],
  ['start', '~project', '--agent', 'web/mine', '--tool', 'mine'],
  ['start', '~project', '--agent', 'web/codex', '--tool', 'codex'],
  ['start', '~project', '--agent', 'web/gemini', '--tool', 'gemini'],
]
/** What is in the home itself concerns fewer of them. */
const OF_SETTINGS = new Set(['list', 'status', 'why', 'ingest', 'cost', 'purge', 'tool', 'start'])
/** What a start reads, of a tool of one's own and of two others: a start takes longer than all else, and need not be tried with the rest. */
const STARTED_WITH = {
  mine: /^(project(\/\.git\/HEAD|\/\.mcp\.json)?|variables\.env|bare\/(config\.toml|tmux\.sock|patterns))$/,
  codex: /^(\.codex(\/config\.toml)?|project\/\.git)$/,
  gemini: /^(\.gemini(\/(settings|projects)\.json)?|project\/\.git)$/,
}
/** With the daemon that has been running all the time. */
const ASKED = [['list'], ['status'], ['why', 'web/live'], ['daemon', 'status']]

let ran = 0
let slowest = { ms: 0, command: '' }
const codes = {}
/** Agents that a command has started, to be ended before the next. */
const started = []

/** Exit code, or 'hung' or 'cpu' for one that had to be ended. */
function skein(home, args, input = '') {
  const words = args.map((word) =>
    word.startsWith('~') ? at(word === '~openclaw' ? '.openclaw' : word.slice(1)) : word,
  )
  return new Promise((resolve) => {
    const began = performance.now()
    // A daemon would keep the limit of the command that starts it.
    const limit = args[0] === 'daemon' ? '' : `ulimit -t ${CPU_SECONDS}; `
    const limited = ['-c', `${limit}exec "$@"`, 'sh', process.execPath, BINARY, ...words]
    const child = spawn('sh', limited, { cwd: scene, env: { ...env, SKEIN_HOME: at(home) } })
    let said = ''
    let isHung = false
    const timer = setTimeout(() => {
      isHung = true
      child.kill('SIGKILL')
    }, HUNG_MS)
    child.stdin.on('error', () => {})
    child.stdin.end(input)
    child.stdout.on('data', (bytes) => (said += bytes))
    child.stderr.on('data', (bytes) => (said += bytes))
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      ran += 1
      const ms = Math.round(performance.now() - began)
      if (ms > slowest.ms) slowest = { ms, command: args.join(' ') }
      const result = isHung ? 'hung' : (code ?? (signal === 'SIGXCPU' || signal === 'SIGKILL' ? 'cpu' : signal))
      codes[result] = (codes[result] ?? 0) + 1
      if (args[0] === 'start' && result === 0 && args.includes('--agent'))
        started.push(args[args.indexOf('--agent') + 1])
      resolve({ result, said })
    })
  })
}

const report = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)
/** What is typed or set wrong is an error with exit code 2: then what is odd must be named. */
const isAnswer = ({ result, said }, places) =>
  result === 0 ||
  result === 1 ||
  (result === 2 && (places.some((place) => said.includes(at(place.split('/agents/')[0]))) || isUndescribed(said)))
/** Without its settings a tool of one's own is unknown. */
const isUndescribed = (said) => said.includes('Skein cannot run a tool named "mine"')
async function check(places, home, args, isRight = (done) => isAnswer(done, places)) {
  const done = await skein(home, args)
  if (!isRight(done))
    report({ places, home, command: args.join(' '), result: done.result, said: done.said.slice(0, 1500) })
}

const PLACES = ['home', 'bare']
build()
for (const home of PLACES) {
  await check(
    ['none'],
    home,
    ['start', at('project'), '--agent', 'web/live', '--tool', 'claude'],
    ({ result }) => result === 0,
  )
  started.length = 0
  await skein(home, ['spawn', at('worktree'), '--agent', 'web/tree', '--tool', 'claude'])
  await skein(home, ['spawn', at('elsewhere'), '--agent', 'web/elsewhere', '--tool', 'pi'])
  await skein(home, ['ingest'])
}
const registry = []
for (const home of PLACES) {
  const { agents } = JSON.parse((await skein(home, ['list', '--json'])).said)
  const live = agents.find(({ address }) => address === 'web/live')
  const stat = readFileSync(`/proc/${live.pid}/stat`, 'utf8')
  const procStart = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  const entry = {
    pid: live.pid,
    sessionId: live.session_id,
    kind: 'interactive',
    entrypoint: 'cli',
    status: 'idle',
    procStart,
  }
  put(`.claude/sessions/${live.pid}.json`, JSON.stringify(entry))
  registry.push(`.claude/sessions/${live.pid}.json`)
  // What a hook said about where its conversation is written.
  const run = JSON.parse(readFileSync(at(`${home}/profiles/default/agents/${live.id}.json`), 'utf8')).run.id
  const hook = {
    hook_event_name: 'SessionStart',
    source: 'startup',
    session_id: live.session_id,
    transcript_path: at('named-by-a-hook.jsonl'),
  }
  const header = { v: 1, agent: live.id, run, tool: 'claude', pid: live.pid }
  put(`${home}/profiles/default/spool/${Date.now()}000000-1.msg`, `${JSON.stringify(header)}\n${JSON.stringify(hook)}`)
}
await check(['none'], 'home', ['daemon', 'start'], ({ result }) => result === 0)
const daemon = JSON.parse((await skein('home', ['daemon', 'status', '--json'])).said).pid

const groups = GROUPS()
for (const places of mode === 'each' ? groups.flat().map((place) => [place]) : groups) {
  const restore = places.map(makeOdd)
  const asked = ASKED.map((args) => () => check(places, 'home', args))
  const isSetting = places.every((place) => /^(home|bare)\//.test(place))
  const concerns = ([word, ...rest]) =>
    word !== 'start' || places.some((place) => STARTED_WITH[rest.at(-1)].test(place))
  const wanted = READS.filter((args) => (!isSetting || OF_SETTINGS.has(args[0])) && concerns(args))
  const read = wanted.map((args) => () => check(places, 'bare', args))
  await inTurn([...asked, ...read])
  if (places.includes('project/.git/HEAD')) await act(places)
  for (const back of restore.reverse()) back()
  for (const agent of started.splice(0)) await skein('bare', ['remove', agent, '--force'])
}
// All is as it was: so are the answers, and the daemon is the one of the beginning.
for (const home of PLACES)
  await check(['restored'], home, ['list'], ({ result, said }) => result === 0 && said.includes('web'))
await check(['restored'], 'bare', ['ingest'], ({ result }) => result === 0)
await check(['restored'], 'home', ['daemon', 'status', '--json'], ({ said }) => JSON.parse(said).pid === daemon)
report({ done: kind, ran, codes, slowest, daemonCpuSeconds: daemonCpu() })
process.exit(0)

function daemonCpu() {
  const stat = existsSync(`/proc/${daemon}/stat`) ? readFileSync(`/proc/${daemon}/stat`, 'utf8') : ''
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** Two at a time. */
async function inTurn(work) {
  const queue = [...work]
  await Promise.all(
    [1, 2].map(async () => {
      for (let next = queue.shift(); next; next = queue.shift()) await next()
    }),
  )
}

/** What ends agents works too, whatever lies around them. */
async function act(places) {
  await check(places, 'home', ['stop', 'web/live'], ({ result }) => result === 0)
  await check(places, 'bare', ['kill', 'web/live'], ({ result }) => result === 0)
  for (const home of PLACES) {
    await check(places, home, ['remove', 'web/elsewhere'], ({ result }) => result === 0)
    await check(places, home, ['restart', 'web/live'], ({ result }) => result === 0)
  }
}
