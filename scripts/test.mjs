// Provisions, builds, runs the tests and ends with one line that counts the tests really run.
// --real runs the suites that need the agent programs or a browser; other arguments go to vitest.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
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
const OURS = /^SKEIN_(TEST_SEED|FUZZ_EACH|SHOW_FIGURES|PAGE_PICTURE|ALL_PAIRS|ALL_TOOLS|RECOVER_ALL)$/
const isKept = ([name]) => OURS.test(name) || !FOREIGN.test(name)
const clean = Object.fromEntries(Object.entries(process.env).filter(isKept))

const scratch = mkdtempSync(join(tmpdir(), 'skein-test-'))
const report = join(scratch, 'report.json')
const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')
const command = [
  process.execPath,
  vitest,
  'run',
  ...(real ? ['real'] : ['unit', 'waiting']).map((name) => `--project=${name}`),
  '--reporter=default',
  '--reporter=json',
  `--outputFile=${report}`,
  ...rest,
]
// Tests must not see the user's home and agents, nor pay for certificates that no test uses.
const env = { ...clean, HOME: scratch, PATH: agentFreePath(clean.PATH ?? '', scratch), NODE_EXTRA_CA_CERTS: '' }
if (real) {
  // The programs are a gigabyte and a half: those that were installed for an earlier run are used again.
  const programs = await installPrograms(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'))
  env.SKEIN_TEST_PROGRAMS = JSON.stringify(programs)
}
const [program, ...programArgs] = real ? alone(command) : command
const { status } = spawnSync(program, programArgs, { cwd: root, stdio: 'inherit', env })

/**
 * The same command where there is no network but loopback and no process but its own: real programs call home and leave
 * processes behind. The shell is there to bury those that nobody waits for.
 */
function alone(command) {
  const asUser = process.getuid?.() === 0 ? [] : ['--map-root-user']
  const namespaces = [...asUser, '--net', '--pid', '--fork', '--mount-proc', '--kill-child']
  return ['unshare', ...namespaces, 'sh', '-c', 'ip link set lo up && "$@"; exit $?', 'sh', ...command]
}

let line = '0 passed, 1 failed'
let failed = status !== 0
try {
  const totals = JSON.parse(readFileSync(report, 'utf8'))
  for (const row of operationTable(totals)) console.log(row)
  for (const { fullName, status, failureMessages } of totals.testResults.flatMap((file) => file.assertionResults)) {
    if (status !== 'passed' || failureMessages.length === 0) continue
    console.log(`passed at try ${failureMessages.length + 1}: ${fullName}; before: ${failureMessages.join('\n')}`)
  }
  const lost = totals.numFailedTestSuites > 0 && totals.numFailedTests === 0 ? 1 : 0
  const skipped = totals.numPendingTests + totals.numTodoTests
  line = `${totals.numPassedTests} passed, ${totals.numFailedTests + lost} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
  failed ||= totals.numPassedTests === 0
} catch {
  console.error('The test run left no report.')
}
rmSync(scratch, { recursive: true, force: true })
if (process.env.SKEIN_TEST_COUNT_FILE) writeFileSync(process.env.SKEIN_TEST_COUNT_FILE, `${line}\n`)
console.log(line)
process.exit(failed ? 1 : 0)
