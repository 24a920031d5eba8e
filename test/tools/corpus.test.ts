import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { largerUsage, type UsageCall } from '../../src/model/index.js'
import type { Counters, Fact, LogRef, Resume } from '../../src/tools/index.js'
import { toolNamed } from './log-file.js'

const GENERATOR = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'bench', 'gen-corpus.mjs')
const claude = toolNamed('claude')

interface Manifest {
  apiCalls: number
  validLines: number
  corruptLines: number
  blankLines: number
  truncatedFiles: number
  toolCalls: Record<string, number>
  byModel: Record<string, Record<string, number>>
}

/** A tree of sessions with forks, sub-agents, replays and far more damage than any real one has, and the truth about it. */
function corpus(directory: string, seed: number): { root: string; manifest: Manifest } {
  const root = join(directory, `seed-${seed}`)
  const shape = { sessions: 40, mb: 6, seed, corrupt: 0.02, trunc: 0.15, fork: 0.1, subagents: 0.4, out: root }
  const flags = Object.entries(shape).flatMap(([name, value]) => [`--${name}`, `${value}`])
  execFileSync(process.execPath, [GENERATOR, ...flags], { stdio: 'ignore' })
  return { root, manifest: JSON.parse(readFileSync(join(root, 'manifest.json'), 'utf8')) as Manifest }
}

const logsUnder = (root: string): LogRef[] => claude.discover({ home: '/nowhere', env: { CLAUDE_CONFIG_DIR: root } })

/** What a reader of all the logs knows: each call once, each line accounted for. */
class Totals {
  calls = new Map<string, UsageCall>()
  counters = new Map<string, Counters>()

  take(log: string, facts: Iterable<Fact>): Resume | undefined {
    let resume: Resume | undefined
    for (const fact of facts) {
      if (fact.kind === 'usage') {
        const known = this.calls.get(fact.usage.message_id)
        this.calls.set(fact.usage.message_id, known ? largerUsage(known, fact.usage) : fact.usage)
      }
      if (fact.kind !== 'checkpoint') continue
      this.counters.set(log, fact.counters)
      resume = fact.resume
    }
    return resume
  }

  byModel(): Manifest['byModel'] {
    const models: Manifest['byModel'] = {}
    for (const call of this.calls.values()) {
      models[call.model] ??= {
        calls: 0,
        input: 0,
        output: 0,
        cacheRead: 0,
        cacheWrite5m: 0,
        cacheWrite1h: 0,
        webSearch: 0,
      }
      const sum = models[call.model] as Record<string, number>
      const add = (field: string, amount: number): void => {
        sum[field] = (sum[field] ?? 0) + amount
      }
      add('calls', 1)
      add('input', call.input_tokens)
      add('output', call.output_tokens)
      add('cacheRead', call.cache_read_tokens)
      add('cacheWrite5m', call.cache_write_5m_tokens)
      add('cacheWrite1h', call.cache_write_1h_tokens)
      add('webSearch', call.web_search_requests)
    }
    return models
  }

  sum(field: 'records' | 'bad_lines' | 'blank_lines' | 'truncated_last_line'): number {
    return [...this.counters.values()].reduce((total, counters) => total + Number(counters[field]), 0)
  }
}

function expectTruth(totals: Totals, manifest: Manifest): void {
  expect(totals.byModel()).toEqual(manifest.byModel)
  expect(totals.sum('records')).toBe(manifest.validLines)
  expect(totals.sum('blank_lines')).toBe(manifest.blankLines)
  expect(totals.sum('truncated_last_line')).toBe(manifest.truncatedFiles)
  expect(totals.sum('bad_lines') + manifest.truncatedFiles).toBe(manifest.corruptLines)
}

describe('a tree of sessions whose truth is known', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'skein-corpus-'))
  afterAll(() => rmSync(scratch, { recursive: true, force: true }))

  it.each([11, 12, 13])('is counted to the last token and the last line, seed %i', (seed) => {
    const { root, manifest } = corpus(scratch, seed)
    const totals = new Totals()
    for (const log of logsUnder(root)) totals.take(log.path, claude.read(log))
    expectTruth(totals, manifest)
  })

  it.each([14, 15])('is counted the same while its files grow by turns in pieces of any length, seed %i', (seed) => {
    const { root, manifest } = corpus(scratch, seed)
    const copy = join(scratch, `copy-${seed}`)
    const totals = new Totals()
    const growing = logsUnder(root).map((log) => {
      const path = join(copy, relative(root, log.path))
      mkdirSync(dirname(path), { recursive: true })
      return { path, rest: readFileSync(log.path), resume: undefined as Resume | undefined }
    })
    let state = seed
    const random = (below: number): number => {
      state = (state * 1664525 + 1013904223) >>> 0
      return Math.floor((state / 2 ** 32) * below)
    }
    for (let left = [...growing]; left.length > 0; left = left.filter((file) => file.rest.length > 0)) {
      const file = left[random(left.length)]
      if (!file) break
      const length = 1 + random(Math.min(file.rest.length, 120_000))
      appendFileSync(file.path, file.rest.subarray(0, length))
      file.rest = file.rest.subarray(length)
      const log = claude.logAt(file.path)
      if (log) file.resume = totals.take(file.path, claude.read(log, file.resume ? { from: file.resume } : {}))
    }
    expectTruth(totals, manifest)
  })
})
