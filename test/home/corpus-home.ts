import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Home, SearchOptions } from '../../src/home/index.js'
import { makeCorpus } from '../ingest/corpus.js'
import { scratch } from './scratch.js'

export const CLAUDE = join(import.meta.dirname, '..', 'fixtures', 'claude', '2.1.325')
export const OWN = '22222222-2222-4222-8222-222222222222'
export const NOW = { ms: Date.UTC(2026, 10, 15) }
export const EVERYTHING = 'tool_privacy: { "*": full, Write: full, Edit: full, MultiEdit: full, NotebookEdit: full }\n'

export interface Manifest {
  needles: Record<string, string[]>
  secrets: { s: string }[]
}

/** A home whose user has these logs, and the one session of the fixtures. */
export function withCorpus(seed: number): { root: string; projects: string; manifest: Manifest } {
  const root = scratch()
  const corpus = makeCorpus(seed, { sessions: 60, mb: 12 })
  const projects = join(root, '.claude', 'projects')
  cpSync(join(corpus.root, 'projects'), projects, { recursive: true })
  return { root, projects, manifest: JSON.parse(readFileSync(join(corpus.root, 'manifest.json'), 'utf8')) as Manifest }
}

export function withFixture(): { root: string; log: string } {
  const root = scratch()
  const log = join(root, '.claude', 'projects', '-srv', `${OWN}.jsonl`)
  mkdirSync(dirname(log), { recursive: true })
  copyFileSync(join(CLAUDE, 'interactive-7turns-tools-subagent.jsonl'), log)
  cpSync(join(CLAUDE, 'interactive-7turns-tools-subagent'), join(dirname(log), OWN), { recursive: true })
  return { root, log }
}

export const filesUnder = (directory: string, ending = ''): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile())
    .sort()

/** Where the corpus really has its needles: some were planted in text that was then cut or damaged. */
export function whereNeedlesAre(projects: string, manifest: Manifest): [string, string][] {
  const messages = filesUnder(projects, '.jsonl').map((path) => {
    const session = /([0-9a-f-]{36})(\.jsonl|\/subagents)/.exec(path)?.[1] ?? ''
    return { session, text: readFileSync(path, 'utf8').split('\n').map(messageIn).join('\n') }
  })
  return Object.keys(manifest.needles).flatMap((needle) =>
    messages.filter(({ text }) => text.includes(needle)).map(({ session }): [string, string] => [needle, session]),
  )
}

function messageIn(line: string): string {
  try {
    return JSON.stringify((JSON.parse(line) as { message?: { content?: unknown } }).message?.content) ?? ''
  } catch {
    return ''
  }
}

export async function sessionsWith(home: Home, options: SearchOptions): Promise<Set<string>> {
  const { hits } = await home.history.search({ limit: 1_000, ...options })
  return new Set(hits.map((hit) => hit.session))
}

/** All that a handful of searches say. */
export async function answers(home: Home, manifest: Manifest): Promise<unknown> {
  const searches = [...Object.keys(manifest.needles), 'error test', 'return*', '"the file"', 'error_test']
  return Promise.all(searches.map(async (text) => (await home.history.search({ text, limit: 30 })).hits))
}
