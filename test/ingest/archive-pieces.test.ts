import { randomBytes, randomUUID } from 'node:crypto'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Archive, type ArchivedContent, originOf } from '../../src/archive/index.js'
import { HistoryStore, readHistory, TextStore } from '../../src/ingest/index.js'
import { DEFAULT_PRIVACY } from '../../src/privacy/index.js'
import { type Fact, foldSession, LOG_TOOLS, type LogTool } from '../../src/tools/index.js'
import { temporaryDirectory } from './corpus.js'

const FIXTURES = join(import.meta.dirname, '..', 'fixtures')
const LARGEST = 150_000
const WRITTEN = new Date('2026-01-17T08:30:00Z')

const logsOf = (tool: string): string[] =>
  readdirSync(join(FIXTURES, tool), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(FIXTURES, tool, name))
    .filter((path) => statSync(path).isFile() && statSync(path).size < LARGEST)
    .sort()

/** Archives a log that grows by these pieces, sealed after some of them. */
async function archivedInPieces(
  tool: LogTool,
  source: string,
  cuts: readonly number[],
  seals: readonly boolean[],
): Promise<ArchivedContent> {
  const directory = temporaryDirectory()
  const path = join(directory, 'logs', basename(dirname(source)), basename(source))
  mkdirSync(dirname(path), { recursive: true })
  const bytes = readFileSync(source)
  const context = { clock: { now: () => 0 }, random: { bytes: randomBytes, uuid: randomUUID } }
  using archive = new Archive(join(directory, 'archive'), context)
  using history = HistoryStore.open(join(directory, 'history.db'))
  using text = TextStore.open(join(directory, 'text.db'))
  const stores = {
    archive,
    history,
    text,
    policyFor: async () => DEFAULT_PRIVACY,
    isOver: () => false,
    run: 'run',
    purgeFilter: undefined,
    isCurrent: () => true,
    words: true,
  }
  const ends = [...cuts.map((cut) => Math.floor(cut * bytes.length)).sort((a, b) => a - b), bytes.length]
  let done = 0
  for (const [at, end] of ends.entries()) {
    appendFileSync(path, bytes.subarray(done, end))
    utimesSync(path, WRITTEN, WRITTEN) // a log that tells no times takes the file's
    done = end
    const log = tool.logAt(path)
    if (!log) throw new Error(`${path} is not there`)
    await readHistory(stores, [{ log }], () => {})
    if (seals[at]) await archive.seal(archive.keyOf(originOf(log)))
  }
  const [key] = archive.keys()
  const content = key && archive.read(key)
  if (!content) throw new Error(`${source} was not archived`)
  rmSync(directory, { recursive: true })
  return content
}

/** The session as it would be shown, and every word of it. */
function told({ facts, standing }: ArchivedContent): unknown {
  const { counters, head } = standing
  if (!counters || !head) throw new Error('the archive does not say how the reading ended')
  const end: Fact = { kind: 'checkpoint', resume: { v: 0, offset: 0, place: null }, counters, head }
  const { counters: _, ...session } = foldSession([[...facts, end]]) // lines that are torn now may be whole later
  const said = new Map(
    facts.flatMap((fact) => (fact.kind === 'said' ? [[`${fact.message} ${fact.part}`, fact.text]] : [])),
  )
  return { session, said: [...said].sort() }
}

describe.each(['claude', 'codex', 'pi', 'qwen', 'gemini'])('the archive of a log of %s', (name) => {
  const tool = LOG_TOOLS.find((one) => one.name === name)
  const logs = logsOf(name)

  it('is the same whether the log was read at once or as it grew, sealed at any moments', async () => {
    expect(logs.length).toBeGreaterThan(0)
    const share = fc.double({ min: 0, max: 1, noNaN: true })
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...logs),
        fc.array(share, { minLength: 1, maxLength: 6 }),
        fc.array(fc.boolean(), { minLength: 7, maxLength: 7 }),
        async (log, cuts, seals) => {
          if (!tool) throw new Error(`no tool ${name}`)
          const pieces = await archivedInPieces(tool, log, cuts, seals)
          expect(pieces.problems).toEqual([])
          expect(told(pieces)).toEqual(told(await archivedInPieces(tool, log, [], [])))
        },
      ),
      { numRuns: 12 },
    )
  })
})
