// Everything that is stored passes through redaction, so it runs once per line of every log: a person who asks for a first
// ingest of months of logs waits for it. The baseline in the same run is what any reader of those logs must do: read the
// file, split it into lines, parse each. 30 MB are a busy week of one developer.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { redactValue } from '../dist/privacy.js'
import { inScratch, median, report } from './measure.mjs'

const ROUNDS = 21
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

/** What is stored of a line: the words. Not the log's own bookkeeping, nor its second copy of every tool result, nor pictures. */
function stored(line) {
  if (line === undefined) return undefined
  const { summary, customTitle, aiTitle, content } = line
  const blocks = line.message?.content
  return {
    said: Array.isArray(blocks)
      ? blocks.map(({ text, thinking, input, content }) => ({ text, thinking, input, content }))
      : blocks,
    summary,
    customTitle,
    aiTitle,
    content,
  }
}

await inScratch(async (directory) => {
  const corpus = join(directory, 'corpus')
  const args = [generator, '--sessions', '120', '--mb', String(MB), '--seed', '1', '--out', corpus]
  const made = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (made.status !== 0) throw new Error(made.stderr)
  const { secrets } = JSON.parse(readFileSync(join(corpus, 'manifest.json'), 'utf8'))
  const logs = logsUnder(join(corpus, 'projects'))

  let characters = 0
  let storedCharacters = 0
  let kept = ''
  readAll(logs, (line) => {
    characters += strings(line)
    storedCharacters += strings(stored(line))
    kept += JSON.stringify(redactValue(line, {})) ?? ''
  })
  // The secret itself, without the words that lead to it.
  const bare = ({ s }) =>
    s.replace(/^(?:password=|export API_TOKEN=|postgres:\/\/app:)/, '').replace(/@db\.internal.*/, '')
  const survivors = secrets.filter((secret) => kept.includes(bare(secret)))

  const taken = { plain: [], everything: [], stored: [] }
  for (let round = 0; round < ROUNDS; round += 1) {
    taken.plain.push(readAll(logs, (line) => stored(line)))
    taken.stored.push(readAll(logs, (line) => redactValue(stored(line), {})))
    taken.everything.push(readAll(logs, (line) => redactValue(line, {})))
  }
  const plain = median(taken.plain)
  // Round by round: what else the machine does then falls on both sides.
  const ratio = (other) => median(other.map((ms, round) => ms / taken.plain[round]))
  report('privacy', [
    ['read, split, parse: CPU ms', plain],
    ['with redaction of what is stored: x that', ratio(taken.stored), 1.3],
    ['with redaction of every string of every line: x that', ratio(taken.everything)],
    ['redaction alone, MB of text per CPU second', characters / 1e3 / (median(taken.everything) - plain)],
    ['MB of text in all lines', characters / 1e6],
    ['MB of text that is stored', storedCharacters / 1e6],
    ['planted secrets', secrets.length],
    ['planted secrets that survive', survivors.length, 0],
  ])
})
