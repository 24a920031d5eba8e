// How long one large session log takes to read, in how much memory, and how long a line appended to it takes to be seen.
// 500 MB is five times the largest log that has been reported; whoever has one waits for `skein ingest` on it once.
// The baseline is the least any reader can do that parses each line: read, split, JSON.parse. Machines differ; the ratio does not.
import { spawnSync } from 'node:child_process'
import { appendFileSync, closeSync, mkdtempSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const argument = (name, fallback) =>
  Number(process.argv.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1] ?? fallback)
const SESSION = '00000000-0000-4000-8000-000000000500'

if (process.argv[2] === 'child') await child(process.argv[3], process.argv[4], process.argv[5])
else await parent()

async function parent() {
  const scratch = mkdtempSync(join(tmpdir(), 'skein-bench-'))
  try {
    const module = join(scratch, 'tools.mjs')
    const external = [/^node:/, '@photostructure/sqlite']
    const bundle = await rolldown({
      cwd: root,
      input: 'src/tools/index.ts',
      platform: 'node',
      external,
      transform: { target: 'node20.19' },
    })
    await bundle.write({ file: module, format: 'esm', codeSplitting: false })
    await bundle.close()
    const log = join(scratch, `${SESSION}.jsonl`)
    const truth = write(log, argument('mb', 500), argument('seed', 1))
    const rows = ['parse every line', 'read', 'append'].map((what) => ({ what, ...measure(module, log, what) }))
    report(rows, truth)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function measure(module, log, what) {
  const self = fileURLToPath(import.meta.url)
  const { stdout, stderr, status } = spawnSync(process.execPath, [self, 'child', module, log, what], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}

function report(rows, truth) {
  const [baseline, read] = rows
  const exact = ['calls', 'output', 'turns', 'tools'].every((key) => read[key] === truth[key])
  if (process.argv.includes('--json')) console.log(JSON.stringify({ mb: truth.mb, rows, exact }))
  else {
    console.log(
      `${truth.mb} MB, ${truth.lines} lines, ${truth.turns} turns, ${truth.tools} tool calls, ${truth.calls} model calls`,
    )
    console.table(
      rows.map(({ what, seconds, cpu, rss }) => ({
        what,
        seconds,
        cpu,
        'peak MB': rss,
        'cpu x baseline': +(cpu / baseline.cpu).toFixed(2),
      })),
    )
    console.log(exact ? 'totals exact' : `TOTALS DIFFER: ${JSON.stringify({ truth, read })}`)
  }
  if (!exact || read.rss > 500) process.exitCode = 1
}

async function child(module, log, what) {
  const before = process.cpuUsage()
  const began = performance.now()
  const answer = what === 'parse every line' ? parseAll(log) : await readAll(module, log, what)
  const cpu = process.cpuUsage(answer.cpuFrom ?? before)
  const { cpuFrom: _, began: late, ...counts } = answer
  const rss = Math.round(process.resourceUsage().maxRSS / 1024)
  const seconds = +((performance.now() - (late ?? began)) / 1000).toFixed(3)
  console.log(JSON.stringify({ ...counts, seconds, cpu: +((cpu.user + cpu.system) / 1e6).toFixed(3), rss }))
}

function parseAll(log) {
  const file = openSync(log, 'r')
  const chunk = Buffer.alloc(1 << 20)
  let rest = Buffer.alloc(0)
  let lines = 0
  for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) {
    const bytes = Buffer.concat([rest, chunk.subarray(0, read)])
    let from = 0
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, from)) {
      JSON.parse(bytes.toString('utf8', from, at))
      from = at + 1
      lines += 1
    }
    rest = Buffer.from(bytes.subarray(from))
  }
  closeSync(file)
  return { lines }
}

async function readAll(module, log, what) {
  const { LOG_TOOLS } = await import(pathToFileURL(module).href)
  const claude = LOG_TOOLS.find((tool) => tool.name === 'claude')
  const calls = new Map()
  const counts = { turns: 0, tools: 0 }
  let resume
  const take = (facts) => {
    for (const fact of facts) {
      if (fact.kind === 'turn') counts.turns += 1
      else if (fact.kind === 'tool-call') counts.tools += 1
      else if (fact.kind === 'usage')
        calls.set(fact.usage.message_id, Math.max(calls.get(fact.usage.message_id) ?? 0, fact.usage.output_tokens))
      else if (fact.kind === 'checkpoint') resume = fact.resume
    }
  }
  take(claude.read(claude.logAt(log)))
  let from = {}
  if (what === 'append') {
    appendFileSync(log, `${JSON.stringify(prompt('last', null, 'one more'))}\n`)
    from = { cpuFrom: process.cpuUsage(), began: performance.now() }
    take(claude.read(claude.logAt(log), { from: JSON.parse(JSON.stringify(resume)) }))
  }
  return { ...counts, ...from, calls: calls.size, output: [...calls.values()].reduce((sum, output) => sum + output, 0) }
}

function prompt(uuid, parentUuid, content) {
  const head = {
    parentUuid,
    isSidechain: false,
    cwd: '/srv/project',
    sessionId: SESSION,
    version: '2.1.325',
    gitBranch: 'main',
  }
  return { ...head, type: 'user', message: { role: 'user', content }, uuid, timestamp: '2026-01-01T00:00:00.000Z' }
}

/** Turns of a prompt and some tool calls, with results from a few bytes to half a megabyte, as real logs have them. */
function write(path, mb, seed) {
  let state = seed
  const random = () => {
    state = (state * 1664525 + 1013904223) >>> 0
    return state / 2 ** 32
  }
  const words = Array.from({ length: 4000 }, () => Math.floor(random() * 36 ** 6).toString(36))
  const text = (length) => {
    let made = ''
    while (made.length < length)
      made += `${words[Math.floor(random() * words.length)]} ${words[Math.floor(random() * words.length)]}\n`
    return made
  }
  const pool = text(1 << 20)
  const cut = (length) =>
    pool.slice(Math.floor(random() * (pool.length - length)), length === 0 ? 0 : undefined).slice(0, length)
  const truth = { mb, lines: 0, turns: 0, tools: 0, calls: 0, output: 0 }
  const file = openSync(path, 'w')
  let last = null
  let pending = []
  const put = (line) => {
    truth.lines += 1
    last = line.uuid
    pending.push(`${JSON.stringify(line)}\n`)
  }
  for (let size = 0; size < mb * 1e6; ) {
    truth.turns += 1
    put(prompt(`p${truth.lines}`, last, cut(200)))
    for (let step = Math.ceil(random() * 12); step > 0; step--) {
      truth.calls += 1
      truth.tools += 1
      const output_tokens = Math.ceil(random() * 2000)
      truth.output += output_tokens
      const usage = {
        input_tokens: 5,
        output_tokens,
        cache_read_input_tokens: 90_000,
        cache_creation_input_tokens: 300,
      }
      const message = {
        id: `msg_${truth.calls}`,
        role: 'assistant',
        model: 'claude-opus-5-5',
        usage,
        stop_reason: 'tool_use',
      }
      const call = `toolu_${truth.tools}`
      const tool_use = { type: 'tool_use', id: call, name: 'Bash', input: { command: cut(80) } }
      const base = prompt('', null, '')
      put({
        ...base,
        type: 'assistant',
        parentUuid: last,
        uuid: `a${truth.lines}`,
        message: { ...message, content: [{ type: 'text', text: cut(300) }] },
      })
      put({
        ...base,
        type: 'assistant',
        parentUuid: last,
        uuid: `a${truth.lines}`,
        message: { ...message, content: [tool_use] },
      })
      const output = cut(Math.min(500_000, Math.ceil(300 * Math.exp(random() * 6))))
      const result = {
        ...prompt(`r${truth.lines}`, last, [{ type: 'tool_result', tool_use_id: call, content: output }]),
        toolUseResult: { stdout: output, stderr: '' },
      }
      put(result)
    }
    if (pending.length < 200) continue
    size += writeSync(file, pending.join(''))
    pending = []
  }
  writeSync(file, pending.join(''))
  closeSync(file)
  truth.mb = Math.round(statSync(path).size / 1e6)
  return truth
}
