import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { CostReport } from '../../src/ingest/index.js'
import type { UsageSource } from '../../src/tools/index.js'

const GENERATOR = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'bench', 'gen-corpus.mjs')

/** What the generator counted while it wrote. */
export interface Truth {
  apiCalls: number
  corruptLines: number
  bytes: number
  byModel: Record<
    string,
    {
      calls: number
      input: number
      output: number
      cacheRead: number
      cacheWrite5m: number
      cacheWrite1h: number
      webSearch: number
    }
  >
}

export interface Corpus {
  root: string
  truth: Truth
  logs: UsageSource[]
}

/** A small tree of Claude Code logs with forks, replays and damage in it, far above what real trees have. */
export function makeCorpus(seed: number, options: { sessions?: number; mb?: number } = {}): Corpus {
  const root = temporaryDirectory()
  const { sessions = 60, mb = 4 } = options
  const settings = {
    sessions,
    mb,
    seed,
    out: root,
    corrupt: 1 / 40,
    trunc: 0.1,
    fork: 0.2,
    subagents: 0.4,
    replay: 0.6,
  }
  execFileSync(process.execPath, [
    GENERATOR,
    ...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, `${value}`]),
  ])
  const truth = JSON.parse(readFileSync(join(root, 'manifest.json'), 'utf8')) as Truth
  return { root, truth, logs: logsUnder(root) }
}

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'skein-ingest-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

export function logsUnder(root: string): UsageSource[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .map((name) => logAt(join(root, name)))
}

export function logAt(path: string): UsageSource {
  const { ino, size, mtimeMs } = statSync(path)
  return { tool: 'claude', path, stamp: `${ino} ${size} ${mtimeMs}` }
}

/** A report by model, in the words of the generator. */
export function asTruth(report: CostReport): Truth['byModel'] {
  return Object.fromEntries(
    report.rows.map((row) => [
      row.key,
      {
        calls: row.calls,
        input: row.input_tokens,
        output: row.output_tokens,
        cacheRead: row.cache_read_tokens,
        cacheWrite5m: row.cache_write_5m_tokens,
        cacheWrite1h: row.cache_write_1h_tokens,
        webSearch: row.web_search_requests,
      },
    ]),
  )
}
