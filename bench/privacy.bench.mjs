// Everything that is stored passes through redaction, so it runs once per line of every log: a person who asks for a first
// ingest of months of logs waits for it. The baseline in the same run is what any reader of those logs must do: read the
// file, split it into lines, parse each. 30 MB are a busy week of one developer.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { redactValue } from '../dist/privacy.js'
import { inScratch, median, report } from './measure.mjs'

const ROUNDS = 9
const MB = 30
const generator = join(fileURLToPath(import.meta.url), '..', 'gen-corpus.mjs')

const logsUnder = (directory) =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(directory, name))

function parsed(line) {
  try {
    return JSON.parse(line)
  } catch {
    return undefined // the corpus has broken lines, as real logs do
  }
}

/** One way through all logs. `keep` gets each parsed line. */
function readAll(logs, keep) {
  const from = process.cpuUsage()
  for (const log of logs) for (const line of readFileSync(log, 'utf8').split('\n')) if (line !== '') keep(parsed(line))
  const { user, system } = process.cpuUsage(from)
  return (user + system) / 1_000
}

const strings = (value) => {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum, one) => sum + strings(one), 0)
}

await inScratch(async (directory) => {
  const corpus = join(directory, 'corpus')
  const args = [generator, '--sessions', '120', '--mb', String(MB), '--seed', '7', '--out', corpus]
  const made = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (made.status !== 0) throw new Error(made.stderr)
  const { secrets } = JSON.parse(readFileSync(join(corpus, 'manifest.json'), 'utf8'))
  const logs = logsUnder(join(corpus, 'projects'))

  let characters = 0
  let kept = ''
  readAll(logs, (line) => {
    characters += strings(line)
    kept += JSON.stringify(redactValue(line, {})) ?? ''
  })
  const survivors = secrets.filter(({ s }) =>
    kept.includes(s.replace(/^(?:password=|export API_TOKEN=|postgres:\/\/app:)/, '').replace(/@db.*/, '')),
  )

  const plain = []
  const redacted = []
  for (let round = 0; round < ROUNDS; round += 1) {
    plain.push(readAll(logs, () => {}))
    redacted.push(readAll(logs, (line) => redactValue(line, {})))
  }
  const extra = median(redacted) - median(plain)
  report('privacy', [
    ['read, split, parse: CPU ms', median(plain)],
    ['the same with redaction of every string: CPU ms', median(redacted)],
    ['ratio', median(redacted) / median(plain), 1.3],
    ['redaction alone, MB of text per CPU second', characters / 1e3 / extra],
    ['planted secrets', secrets.length],
    ['planted secrets that survive', survivors.length, 0],
  ])
})
