// Builds a small world in a scratch directory, shows it with the commands a user would type, breaks it and mends it.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const run = (script) => {
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', script)], { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
run('provision.mjs')
run('build.mjs')

const home = mkdtempSync(join(tmpdir(), 'skein-demo-'))
const profile = join(home, 'profiles', 'default')
const colour = process.stdout.isTTY && !process.env.NO_COLOR
// Nothing of the user's: a variable such as CLAUDE_CONFIG_DIR would lead to their own logs.
const { PATH, LANG, TERM } = process.env
const env = { PATH, LANG, TERM, HOME: home, SKEIN_HOME: home, SKEIN_ACTOR: 'you' }
process.on('exit', () => {
  spawnSync(process.execPath, [join(root, 'bin', 'skein.js'), 'daemon', 'stop'], { env, stdio: 'ignore' })
  spawnSync('tmux', ['-S', join(home, 'tmux.sock'), 'kill-server'], { env, stdio: 'ignore' })
  rmSync(home, { recursive: true, force: true })
})
const paint = (code, text) => (colour ? `\x1b[${code}m${text}\x1b[0m` : text)

/** Says what is typed, runs it, and fails the demo when it fails. Returns what it printed. */
function skein(args, { quiet = false } = {}) {
  const shown = args.map((arg) => (/^[\w./:=-]+$/.test(arg) ? arg : `'${arg}'`)).join(' ')
  console.log(paint('36', `$ skein ${shown}`))
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'bin', 'skein.js'), ...args], {
    cwd: home,
    env,
    encoding: 'utf8',
  })
  if (!quiet) process.stdout.write(stdout)
  process.stdout.write(paint('2', stderr))
  if (status !== 0) {
    console.error(`The demo stopped: that command ended with ${status}.`)
    process.exit(1)
  }
  return stdout.trim()
}
const tell = (text) => console.log(paint('1', `\n# ${text}`))
const expect = (holds, what) => {
  if (holds) return
  console.error(`The demo stopped: ${what}`)
  process.exit(1)
}

tell('Two agents in a group')
skein(['agents', 'add', 'web/toast', '--tool', 'claude', '--role', 'crew'])
skein(['agents', 'add', 'web/ui/bread', '--tool', 'codex', '--parent', 'web/toast'])
skein(['agents', 'list'])

tell('A line of work: it starts, does a step, hands off when its context is full, crashes, and is started again')
const first = skein(['session', 'start', '--agent', 'web/toast', '--work', 'web-17', '--title', 'Fix the login'])
skein(['session', 'step', 'start', 'reproduce', first], { quiet: true })
skein(['session', 'step', 'complete', 'reproduce', first], { quiet: true })
const second = skein(['session', 'handoff', first, '--subject', 'context is full'])
skein(['session', 'end', second, '--outcome', 'crash', '--reason', 'pane died'], { quiet: true })
const third = skein(['session', 'start', '--parent', second])

tell('Another way is tried from turn 3 of the first session, by the other agent')
const fork = skein([
  'session',
  'start',
  '--agent',
  'web/ui/bread',
  '--fork-of',
  `${first}:3`,
  '--title',
  'Login, the other way',
])
skein(['session', 'end', fork, '--outcome', 'done'], { quiet: true })
skein(['session', 'end', third, '--outcome', 'done'], { quiet: true })

tell('What is there')
skein(['sessions', 'list'])
skein(['sessions', 'chain', 'web-17'])
skein(['sessions', 'tree', fork])
skein(['sessions', 'show', second.slice(0, 8)])
skein(['events', 'feed'])

tell('The index is overwritten with garbage: it mends itself, and nothing is missing')
const before = skein(['sessions', 'list', '--json'], { quiet: true })
for (const name of readdirSync(profile).filter((entry) => entry.startsWith('index.db')))
  writeFileSync(join(profile, name), 'garbage '.repeat(1000))
expect(skein(['sessions', 'list', '--json'], { quiet: true }) === before, 'the list is not the same after the repair')

tell('The index is rebuilt on purpose, and checked against the journal')
rmSync(join(profile, 'index.db'))
skein(['index', 'rebuild'])
skein(['index', 'check'])
expect(skein(['sessions', 'list', '--json'], { quiet: true }) === before, 'the list is not the same after the rebuild')

tell('Logs that the agents themselves keep: Claude Code and Codex were used here before Skein was')
const fixtures = join(root, 'test', 'fixtures')
const logged = '22222222-2222-4222-8222-222222222222'
const claude = join(home, '.claude', 'projects', '-srv-web')
const codex = join(home, '.codex', 'sessions', '2026', '11', '15')
for (const directory of [claude, codex]) mkdirSync(directory, { recursive: true })
const seven = join(fixtures, 'claude', '2.1.325', 'interactive-7turns-tools-subagent')
cpSync(`${seven}.jsonl`, join(claude, `${logged}.jsonl`))
cpSync(seven, join(claude, logged), { recursive: true })
const rollouts = join(fixtures, 'codex', '0.166.0')
for (const name of readdirSync(rollouts).filter((entry) => entry.endsWith('.jsonl')))
  cpSync(join(rollouts, name), join(codex, name))
skein([])
skein(['turns', logged.slice(0, 8)])
skein(['tools', logged.slice(0, 8)])
skein(['cost', '--by', 'tool'])
skein(['search', 'subagent', '--limit', '3'])
skein(['export', logged.slice(0, 8), '--format', 'html', '--output', join(home, 'session.html')])

tell('What is stored is filtered: secrets are found whatever surrounds them')
skein([
  'privacy',
  'test',
  'curl -H "Authorization: Bearer abcdefghijklmnopqrstuvwxyz012345" https://ada:hunter22@example.com',
])

tell('Conversations of a chat gateway are taken over')
skein(['conversations', 'import', 'openclaw', join(fixtures, 'openclaw-stores', '2026.7.1')])
skein(['conversations', 'list'])

tell('An agent in tmux: a program of your own, described in config.toml, is started, asked, killed and started again')
const program = join(home, 'echo-agent.sh')
writeFileSync(
  program,
  `while printf 'ready> '; read -r line; do printf 'working'; sleep 1; printf '\\r\\033[Kyou said: %s\\n' "$line"; done\n`,
)
writeFileSync(
  join(home, 'config.toml'),
  `[tools.echo]\ncommand = ["sh", ${JSON.stringify(program)}]\nbusy_patterns = ["re:^working"]\nidle_patterns = ["re:^ready> *$"]\n`,
)
skein(['start', home, '--agent', 'web/echo', '--tool', 'echo', '--title', 'Says it again'])
skein(['send', 'web/echo', 'hello', '--wait', '--timeout', '20s'])
expect(/you said: hello/.test(skein(['output', 'web/echo'])), 'the agent did not answer')
const { agents } = JSON.parse(skein(['list', '--json'], { quiet: true }))
process.kill(agents.find(({ address }) => address === 'web/echo').pid, 'SIGKILL')
expect(/killed by signal 9/.test(skein(['list'])), 'the list does not say that the agent was killed')
skein(['restart', 'web/echo'])
skein(['why', 'web/echo'])
skein(['stop', 'web/echo'])

console.log(paint('32', '\nThe demo is done. Yours: node bin/skein.js --help'))
