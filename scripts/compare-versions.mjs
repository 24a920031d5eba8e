// Compares this checkout with an older one that is built, on one home that the older one made:
//   node scripts/compare-versions.mjs --old <checkout> [--new <checkout>] [--only read,plain,change,live,open,time] [--out <directory>] [--mb 8]
// read: every reading command with --json; plain: the same for people (only when asked for); change: every changing command with --json;
// live: an agent and a daemon that run, the shape of their JSON; open: the old home in the new program, read, searched and rebuilt;
// time: both programs in turn. Clock and randomness are fixed, so bytes are compared as they are. Exit code 1 when some JSON differs or a
// home does not open to the same state. --out keeps both answers of whatever differs.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { around } from '../bench/versions/around.mjs'
import { CHANGING_COMMANDS, LIVE_COMMANDS, leftOut, readCommands } from '../bench/versions/commands.mjs'
import { makeHome } from '../bench/versions/home.mjs'
import { NOW, Program } from '../bench/versions/program.mjs'
import { compareState, stateOf } from '../bench/versions/state.mjs'
import { compareTimes } from '../bench/versions/times.mjs'
import { agentFreePath } from './agent-free-path.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const { values: given } = parseArgs({
  options: {
    old: { type: 'string' },
    new: { type: 'string', default: root },
    only: { type: 'string', default: 'read,change,live,open,time' },
    out: { type: 'string' },
    mb: { type: 'string', default: '8' },
    sessions: { type: 'string', default: '60' },
    rounds: { type: 'string', default: '25' },
  },
})
if (!given.old) throw new Error('Say which checkout to compare with: --old <directory>')
const parts = new Set(given.only.split(','))
const scratch = mkdtempSync(join(tmpdir(), 'skein-compare-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130))

const home = join(scratch, 'home')
const path = agentFreePath(process.env.PATH ?? '', scratch)
const older = new Program(resolve(given.old), home, path)
const newer = new Program(resolve(given.new), home, path)
/** What a command may change; the rest of a home is logs. */
const COPIED = ['skein', 'project']
const master = join(scratch, 'master')

makeHome(older, { mb: Number(given.mb), sessions: Number(given.sessions) })
mkdirSync(master)
for (const name of COPIED) renameSync(join(home, name), join(master, name))
let differences = 0
const page = readFileSync(join(older.checkout, 'docs', 'CLI.md'), 'utf8')
for (const name of leftOut(page, [...readCommands([]), ...CHANGING_COMMANDS, ...LIVE_COMMANDS]))
  console.log(`not compared: skein ${name}`)

/**
 * Runs the body in a copy of what the older program made, at the same path each time. The logs are those of the tools and stay where they
 * are: a log with another time or inode is another log.
 */
function inCopy(body) {
  for (const name of COPIED) execFileSync('cp', ['-a', join(master, name), home])
  try {
    return body()
  } finally {
    for (const name of COPIED) rmSync(join(home, name), { recursive: true, force: true })
  }
}

const answers = (program, commands) =>
  inCopy(() => commands.map((args, at) => program.run(args, { seed: at + 1, runs: args[0] === 'wait' })))

function compareAnswers(title, commands) {
  const [before, after] = [older, newer].map((program) => answers(program, commands))
  const different = commands.flatMap((args, at) => {
    const parts = ['exit', 'stdout', 'stderr'].filter((part) => before[at][part] !== after[at][part])
    return parts.length > 0 ? [{ args, parts, before: before[at], after: after[at], at }] : []
  })
  console.log(`${title}: ${commands.length - different.length} of ${commands.length} are the same to the byte`)
  for (const { args, parts, before, after, at } of different) {
    console.log(`  differs in ${parts.join(', ')}: skein ${args.join(' ')}`)
    const [one, other] = [before, after].map((answer) => String(answer[parts[0]]).split('\n'))
    const line = one.findIndex((text, row) => text !== other[row])
    console.log(`    old: ${around(one[line], other[line])}\n    new: ${around(other[line], one[line])}`)
    if (given.out) keep(`${title} ${at}`, { before, after })
  }
  return different.length
}

function keep(name, both) {
  for (const [side, { exit, stdout, stderr }] of Object.entries(both)) {
    const directory = join(given.out, side)
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, name.replaceAll(' ', '-')), `${stdout}\n--- ${exit}\n${stderr}`)
  }
}

/** Logs of every tool, and among Claude's a long one. */
function loggedSessions() {
  const { sessions } = JSON.parse(older.mustRun(['sessions', 'list', '--all', '--json']))
  const named = sessions.filter(({ id }) => /^[0-9a-f]{8}-/.test(id))
  const firstOf = (tool) => named.filter((session) => session.tool === tool).slice(0, tool === 'claude' ? 4 : 1)
  return ['claude', 'codex', 'gemini', 'qwen'].flatMap(firstOf).map(({ id }) => id)
}

/** What a program finds in the home before and after it has made the index anew. */
function opened(program) {
  return inCopy(() => {
    program.mustRun(['list'])
    program.run(['search', 'mutex'])
    const found = stateOf(program)
    program.mustRun(['index', 'rebuild'])
    program.mustRun(['index', 'check'])
    return [found, stateOf(program)]
  })
}

/** What a document has, without its values. */
function shape(value) {
  if (Array.isArray(value)) return value.map(shape)
  if (value === null || typeof value !== 'object') return value === null ? 'null' : typeof value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shape(one)]))
}

/** Both programs with an agent and a daemon that really run, one after the other. */
function compareLive() {
  const [before, after] = [older, newer].map((program) =>
    inCopy(() => {
      try {
        return LIVE_COMMANDS.map((args, at) => {
          // Half a minute apart: what a command takes must not decide which of two things was first.
          const { exit, stdout } = program.run([...args, '--json'], { at: NOW + at * 30_000, seed: at + 1, runs: true })
          return JSON.stringify({ exit, ...shape(JSON.parse(stdout)) })
        })
      } finally {
        program.run(['kill', '--all'], { runs: true })
        program.run(['daemon', 'stop'], { runs: true })
        spawnSync('tmux', ['-S', join(home, 'skein', 'tmux.sock'), 'kill-server'], {
          env: program.env,
          stdio: 'ignore',
        })
      }
    }),
  )
  const different = LIVE_COMMANDS.flatMap((args, at) => (before[at] === after[at] ? [] : [{ args, at }]))
  console.log(`running, --json: ${before.length - different.length} of ${before.length} have the same shape`)
  for (const { args, at } of different) {
    console.log(`  differs: skein ${args.join(' ')}`)
    console.log(`    old: ${around(before[at], after[at])}\n    new: ${around(after[at], before[at])}`)
  }
  return different.length
}

const json = (commands) => commands.map((args) => [...args, '--json'])
if (parts.has('read') || parts.has('plain')) {
  const commands = readCommands(inCopy(loggedSessions))
  if (parts.has('read')) differences += compareAnswers('reading, --json', json(commands))
  if (parts.has('plain')) compareAnswers('reading, for people', commands)
}
if (parts.has('change')) differences += compareAnswers('changing, --json', json(CHANGING_COMMANDS))
if (parts.has('live')) differences += compareLive()
if (parts.has('open')) {
  const [before, rebuilt] = opened(older)
  const [after, rebuiltAfter] = opened(newer)
  differences += compareState('the old home, opened by the new program', before, after)
  differences += compareState('the old home, rebuilt by the new program as by the old one', rebuilt, rebuiltAfter)
}
if (parts.has('time')) inCopy(() => compareTimes(older, newer, Number(given.rounds)))
console.log(`${differences} differences in JSON or state`)
process.exitCode = differences > 0 ? 1 : 0
