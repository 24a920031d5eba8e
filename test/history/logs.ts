import { spawn } from 'node:child_process'
import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Home } from '../../src/home/index.js'
import { scratch } from '../home/scratch.js'
import { asTruth, makeCorpus, type Truth } from '../ingest/corpus.js'

const WORKER = join(import.meta.dirname, '..', 'workers', 'ingest.mjs')
export const FIXTURES = join(import.meta.dirname, '..', 'fixtures')
export const CLAUDE = join(FIXTURES, 'claude', '2.1.325')

/** A home whose user has these logs of Claude Code. */
export function withLogs(seed: number): { root: string; projects: string; truth: Truth } {
  const root = scratch()
  const corpus = makeCorpus(seed, { sessions: 40, mb: 3 })
  cpSync(join(corpus.root, 'projects'), join(root, '.claude', 'projects'), { recursive: true })
  return { root, projects: join(root, '.claude', 'projects'), truth: corpus.truth }
}

export const logsUnder = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .map((name) => join(directory, name))

export async function byModel(home: Home): Promise<Truth['byModel']> {
  return asTruth(await home.history.cost({ by: 'model' }))
}

/** Everything the history says, in a form that does not depend on how it was read. */
export async function told(home: Home): Promise<unknown> {
  const { sessions } = await home.sessions.query({ limit: 1_000 })
  sessions.sort((a, b) => (a.id < b.id ? -1 : 1))
  const counts = await Promise.all(
    sessions.map(async (session) => [
      session.id,
      await home.history.counts(session.id),
      session.title,
      session.started_at,
    ]),
  )
  return { counts, cost: await home.history.cost({ by: 'session' }) }
}

export function ingestInProcess(
  root: string,
  rounds = 1,
): { child: ReturnType<typeof spawn>; ended: Promise<number | null>; started: Promise<void> } {
  const child = spawn(process.execPath, [WORKER, root, root, String(rounds)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH },
  })
  return {
    child,
    ended: new Promise((resolve) => child.on('exit', (code) => resolve(code))),
    started: new Promise((resolve) => child.stdout?.once('data', () => resolve())),
  }
}
