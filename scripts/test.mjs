// Provisions, builds, runs the tests and ends with one line that counts the tests really run.
// --real runs the suites that need the agent programs or a browser; other arguments go to vitest.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir, tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installPrograms } from '../e2e/install.mjs'
import { operationTable } from '../e2e/operation-table.mjs'
import { agentFreePath } from './agent-free-path.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const args = process.argv.slice(2)
const real = args.includes('--real')
const rest = args.filter((arg) => arg !== '--real')
const run = (script, ...args) => {
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', script), ...args], {
    cwd: root,
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
}
run('provision.mjs', ...(real ? ['--real'] : []))
run('build.mjs')

/** What leads programs to a user's own logs, homes and settings. */
const FOREIGN = /^(SKEIN|CLAUDE|CODEX|GEMINI|OPENCODE|OPENCLAW|PI|QWEN|XDG)_/
/** What tests are told by whoever runs them. */
const OURS =
  /^SKEIN_(TEST_SEED|FUZZ_EACH|FUZZ_ROUNDS|FUZZ_SEED|SHOW_FIGURES|PAGE_PICTURE|ALL_PAIRS|ALL_TOOLS|RECOVER_ALL)$/
const isKept = ([name]) => OURS.test(name) || !FOREIGN.test(name)
const clean = Object.fromEntries(Object.entries(process.env).filter(isKept))

const scratch = mkdtempSync(join(tmpdir(), 'skein-test-'))
const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')
// Tests must not see the user's home and agents, nor pay for certificates that no test uses.
const env = { ...clean, HOME: scratch, PATH: agentFreePath(clean.PATH ?? '', scratch), NODE_EXTRA_CA_CERTS: '' }
if (real) {
  // The programs are a gigabyte and a half: those that were installed for an earlier run are used again.
  const programs = await installPrograms(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'))
  env.SKEIN_TEST_PROGRAMS = JSON.stringify(programs)
}

/** Runs the tests once; what vitest reports, and whether it ended well. */
function runTests(name, args) {
  const report = join(scratch, `${name}.json`)
  const projects = (real ? ['real'] : ['unit', 'waiting']).map((project) => `--project=${project}`)
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile=${report}`]
  const command = [process.execPath, vitest, 'run', ...projects, ...reporters, ...args]
  const [program, ...programArgs] = real ? alone(command) : command
  const { status } = spawnSync(program, programArgs, { cwd: root, stdio: 'inherit', env })
  return { isGreen: status === 0, totals: JSON.parse(readFileSync(report, 'utf8')) }
}

/**
 * The same command where there is no network but loopback and no process but its own: real programs call home and leave
 * processes behind. The shell is there to bury those that nobody waits for.
 */
function alone(command) {
  const asUser = process.getuid?.() === 0 ? [] : ['--map-root-user']
  const namespaces = [...asUser, '--net', '--pid', '--fork', '--mount-proc', '--kill-child']
  return ['unshare', ...namespaces, 'sh', '-c', 'ip link set lo up && "$@"; exit $?', 'sh', ...command]
}

/** So many files are tried again at most: more are not late, they are broken. */
const MOST_AGAIN = 5
const isFailed = ({ status }) => status === 'failed'

/**
 * On a machine that is shared a program may be late. There each file that failed is run once more, whole and alone, because its tests
 * often build on each other; what it failed with is printed, and the second run is what counts.
 */
function triedAgain(first) {
  const failed = first.totals.testResults.filter(isFailed)
  if (!process.env.CI || failed.length === 0 || failed.length > MOST_AGAIN) return first
  const files = failed.map(({ name }) => relative(root, name))
  console.log(`\nTried again, alone: ${files.join(', ')}`)
  const second = runTests('again', [...rest.filter((arg) => !existsSync(arg)), ...files, '--no-file-parallelism'])
  const again = (result) => second.totals.testResults.find(({ name }) => name === result.name) ?? result
  for (const { name, message, assertionResults } of failed) {
    const isPassed = second.totals.testResults.some((result) => result.name === name && !isFailed(result))
    const tests = assertionResults.filter(isFailed)
    const causes = tests.map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages.join('\n')}`)
    const cause = [...(message ? [message] : []), ...causes].join('\n')
    console.log(`${isPassed ? 'passed' : 'failed'} at try 2: ${relative(root, name)}; before: ${cause}`)
  }
  return { isGreen: second.isGreen, totals: { testResults: first.totals.testResults.map(again) } }
}

let line = '0 passed, 1 failed'
let failed = true
try {
  const { isGreen, totals } = triedAgain(runTests('report', rest))
  for (const row of operationTable(totals)) console.log(row)
  const tests = totals.testResults.flatMap(({ assertionResults }) => assertionResults)
  const count = (...wanted) => tests.filter(({ status }) => wanted.includes(status)).length
  const [passed, broken, skipped] = [count('passed'), count('failed'), count('pending', 'skipped', 'todo')]
  const lost = broken === 0 && totals.testResults.some(isFailed) ? 1 : 0 // a file that could not be loaded
  line = `${passed} passed, ${broken + lost} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
  failed = !isGreen || passed === 0 || broken + lost > 0
} catch {
  console.error('The test run left no report.')
}
rmSync(scratch, { recursive: true, force: true })
if (process.env.SKEIN_TEST_COUNT_FILE) writeFileSync(process.env.SKEIN_TEST_COUNT_FILE, `${line}\n`)
console.log(line)
process.exit(failed ? 1 : 0)
