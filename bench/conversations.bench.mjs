// The conversation store at 1,000, 10,000 and 100,000 entries, against its references, in one run: machines differ, ratios less so.
//
//   node bench/conversations.bench.mjs [--json] [--original <directory with openclaw@2026.1.30 installed>]
//
// 1,000 entries is a family's gateway, 10,000 a company's after some months, 100,000 what no whole-file store survives.
// Who waits: a person for the reply (get, patch and append are on the path of every message).
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConversationStore, updateSessionStore } from '../dist/conversations.js'

const flag = (name) => process.argv.indexOf(`--${name}`)
const original = flag('original') > 0 ? process.argv[flag('original') + 1] : undefined
const scratch = mkdtempSync(join(tmpdir(), 'skein-bench-conversations-'))
const SIZES = [1_000, 10_000, 100_000]
const key = (n) => `agent:main:discord:dm:user${n}`

/** About 1 KB, as measured on real stores without their prompt reports. */
const entry = (n) => ({
  sessionId: randomUUID(),
  updatedAt: 1_768_000_000_000 + n,
  channel: 'discord',
  lastChannel: 'discord',
  lastTo: `user${n}`,
  lastAccountId: 'default',
  deliveryContext: { channel: 'discord', to: `user${n}`, accountId: 'default' },
  chatType: 'dm',
  origin: {
    label: `User number ${n}`,
    provider: 'discord',
    surface: 'discord',
    chatType: 'dm',
    from: `discord:user${n}`,
    to: 'bot',
  },
  inputTokens: 12_345,
  outputTokens: 2_345,
  totalTokens: 14_690,
  model: 'claude-opus-4-5',
  label: 'x'.repeat(420),
})

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]
async function measure(times, body) {
  const took = []
  for (let n = 0; n < times; n++) {
    const startedAt = performance.now()
    await body(n)
    took.push(performance.now() - startedAt)
  }
  return median(took)
}
/** Spread over the whole store, the same walk for every size. */
const walk = (n, size) => (n * 7_919) % size

const MESSAGE = { role: 'user', content: [{ type: 'text', text: 'How long is a piece of string?' }] }

/** A store of that many entries, one of them with a transcript of as many messages: both lengths must not matter. */
async function fill(size) {
  const store = new ConversationStore({ directory: join(scratch, `rows-${size}`) })
  const main = store.open('main')
  for (let from = 0; from < size; from += 1_000) {
    await main.adopt(Array.from({ length: 1_000 }, (_, n) => ({ key: key(from + n), entry: entry(from + n) })))
  }
  const long = await main.writer(key(0))
  for (let n = 0; n < size; n++) long.append(MESSAGE)
  long[Symbol.dispose]()
  return { size, store, main }
}

/** All sizes in turn, many times: what else the machine does touches them alike. */
async function measureRows() {
  const stores = []
  for (const size of SIZES) stores.push(await fill(size))
  const verbs = {
    get: { times: 200, body: ({ main, size }, n) => main.get(key(walk(n, size))) },
    patch: { times: 200, body: ({ main, size }, n) => main.patch(key(walk(n, size)), { inputTokens: n }) },
    append: { times: 50, body: ({ main }) => main.append(key(0), MESSAGE) },
  }
  const took = Object.fromEntries(SIZES.map((size) => [size, { get: [], patch: [], append: [] }]))
  for (let round = 0; round < 11; round++) {
    for (const [verb, { times, body }] of Object.entries(verbs)) {
      for (const one of stores) {
        const ms = await measure(times, (n) => body(one, round * times + n))
        if (round > 0) took[one.size][verb].push(ms) // the first round warms up
      }
    }
  }
  for (const { store } of stores) store[Symbol.dispose]()
  const medians = (verbsTook) => Object.fromEntries(Object.entries(verbsTook).map(([verb, all]) => [verb, median(all)]))
  return Object.fromEntries(SIZES.map((size) => [size, medians(took[size])]))
}

async function measureFile(size) {
  const directory = join(scratch, `files-${size}`)
  const path = join(directory, 'agents/main/sessions/sessions.json')
  mkdirSync(join(path, '..'), { recursive: true })
  const whole = Object.fromEntries(Array.from({ length: size }, (_, n) => [key(n), entry(n)]))
  writeFileSync(path, JSON.stringify(whole, null, 2))
  const copy = join(directory, 'reference.json')
  const rewrite = (n) => {
    const parsed = JSON.parse(readFileSync(path, 'utf8'))
    parsed[key(walk(n, size))].inputTokens = n
    writeFileSync(copy, JSON.stringify(parsed, null, 2))
  }
  const store = new ConversationStore({ directory, backend: 'files' })
  const main = store.open('main')
  const patchOne = (n) => main.patch(key(walk(n, size)), { inputTokens: n })
  const updateOne = (n) =>
    updateSessionStore(path, (all) => {
      all[key(walk(n, size))].inputTokens = n
    })
  // Turn by turn, so that a change in the machine's load touches all three alike.
  const took = { reference: [], patch: [], update: [] }
  for (let n = 0; n < 15; n++) {
    took.reference.push(await measure(1, () => rewrite(n)))
    took.patch.push(await measure(1, () => patchOne(n)))
    took.update.push(await measure(1, () => updateOne(n)))
  }
  store[Symbol.dispose]()
  return { reference: median(took.reference), patch: median(took.patch), update: median(took.update), path }
}

/** The same update by the original's own code, when it is there. */
function measureOriginal(path, size) {
  const store = original && join(original, 'node_modules/openclaw/dist/config/sessions/store.js')
  if (!store || !existsSync(store)) return undefined
  const program = `
    import { updateSessionStore } from ${JSON.stringify(store)}
    const took = []
    for (let n = 0; n < 3; n++) {
      const startedAt = performance.now()
      await updateSessionStore(${JSON.stringify(path)}, (all) => { all[${JSON.stringify(key(5))}].inputTokens = n })
      took.push(performance.now() - startedAt)
    }
    console.log(took.sort((a, b) => a - b)[1])`
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    env: { ...process.env, HOME: scratch },
  })
  if (run.status !== 0) console.error(`The original did not run at ${size}: ${run.stderr.split('\n')[0]}`)
  return run.status === 0 ? Number(run.stdout) : undefined
}

const rows = await measureRows()
const file = await measureFile(10_000)
const originalMs = measureOriginal(file.path, 10_000)
rmSync(scratch, { recursive: true, force: true })

const [smallest, middle, largest] = SIZES
const report = {
  rows_ms: rows,
  growth: Object.fromEntries(
    ['get', 'patch', 'append'].map((verb) => [verb, rows[largest][verb] / rows[smallest][verb]]),
  ),
  whole_file_rewrite_ms: file.reference,
  patch_faster_than_rewrite: file.reference / rows[middle].patch,
  file_patch_ms: file.patch,
  file_update_ms: file.update,
  file_patch_ratio: file.patch / file.reference,
  file_update_ratio: file.update / file.reference,
  ...(originalMs === undefined
    ? {}
    : { original_update_ms: originalMs, faster_than_original: originalMs / rows[middle].patch }),
}
if (flag('json') > 0) console.log(JSON.stringify(report))
else {
  const ms = (value) => `${value.toFixed(3)} ms`.padStart(12)
  const times = (value) => `${value.toFixed(value < 10 ? 2 : 0)} x`
  console.log('rows backend, median of one operation')
  console.log(`${'entries'.padStart(9)}${['get', 'patch', 'append'].map((verb) => verb.padStart(12)).join('')}`)
  for (const size of SIZES)
    console.log(`${String(size).padStart(9)}${['get', 'patch', 'append'].map((verb) => ms(rows[size][verb])).join('')}`)
  console.log(
    `from ${smallest} to ${largest} entries: get ${times(report.growth.get)}, patch ${times(report.growth.patch)}, append ${times(report.growth.append)}   (flat is 1)`,
  )
  console.log(`\nat ${middle} entries`)
  console.log(`  parse + stringify + write of the whole file  ${ms(file.reference)}`)
  console.log(
    `  rows backend: one patch                      ${ms(rows[middle].patch)}   ${times(report.patch_faster_than_rewrite)} faster   (promised: 100 x)`,
  )
  console.log(
    `  file backend: one patch                      ${ms(file.patch)}   ${times(report.file_patch_ratio)} the rewrite   (promised: at most 1.5 x)`,
  )
  console.log(
    `  file backend: updateSessionStore             ${ms(file.update)}   ${times(report.file_update_ratio)} the rewrite   (promised: at most 1.5 x)`,
  )
  if (originalMs !== undefined) {
    console.log(
      `  OpenClaw 2026.1.30: updateSessionStore       ${ms(originalMs)}   ${times(originalMs / file.update)} our file backend, ${times(report.faster_than_original)} our rows`,
    )
  }
}
