import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ToolRunner } from '../../../src/tools/index.js'
import { fakeTool } from '../fake-tool.js'
import { type Workshop, workshop } from '../workshop.js'

export const SESSION = '7d1b3c2a-5f60-4e6d-9c3b-2a1f0e9d8c7b'
/** Reads the logs of Claude Code, runs the fake program. */
export const claudeLike = (): ToolRunner => fakeTool({ name: 'claude' })
const atSecond = (second: number): string => new Date(Date.UTC(2026, 10, 16, 8, 0, second)).toISOString()

export const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: cwd },
  }).trim()

export const projectFolder = (cwd: string): string => cwd.replace(/[^A-Za-z0-9]/g, '-')

/** A session of three turns, each of which wrote a file, with the snapshots of all but the third. */
export async function forkable(
  options: Parameters<typeof workshop>[0] = {},
  { below = '', isGit = true }: { below?: string; isGit?: boolean } = {},
): Promise<Workshop & { log1: string }> {
  const shop = await workshop({ runners: [claudeLike()], ...options })
  const { project, root, home } = shop
  const cwd = join(project, below)
  mkdirSync(cwd, { recursive: true })
  writeFileSync(join(project, 'README.md'), 'hello\n')
  writeFileSync(join(project, '.gitignore'), '*.local\nbuild/\n')
  if (isGit) {
    git(project, 'init', '-q', '-b', 'main')
    git(project, 'add', '.')
    git(project, 'commit', '-q', '-m', 'first')
  }
  const lines: object[] = []
  let parent: string | null = null
  const line = (type: string, second: number, message: object, more: object = {}): void => {
    const uuid = `u${lines.length}`
    const facts = { sessionId: SESSION, cwd, version: '2.1.325', timestamp: atSecond(second) }
    lines.push({ type, uuid, parentUuid: parent, ...facts, message, ...more })
    parent = uuid
  }
  const turns = [1, 2, 3]
  for (const turn of turns) {
    const second = turn * 10
    line('user', second, { role: 'user', content: `do ${turn}` }, { promptSource: 'typed' })
    const snapshot = { directory: cwd, session: SESSION, asOfMs: Date.parse(atSecond(second)) }
    if (turn < 3) await home.snapshots.capture({ ...snapshot, moment: 'prompt' })
    writeFileSync(join(cwd, `file-${turn}.txt`), `${turn}\n`)
    const reply = [{ type: 'text', text: `done ${turn}` }]
    line('assistant', second + 2, { id: `m${turn}`, role: 'assistant', content: reply, stop_reason: 'end_turn' })
    if (turn < 3)
      await home.snapshots.capture({ ...snapshot, asOfMs: Date.parse(atSecond(second + 3)), moment: 'stop' })
  }
  const log1 = join(root, '.claude/projects', projectFolder(cwd), `${SESSION}.jsonl`)
  mkdirSync(dirname(log1), { recursive: true })
  writeFileSync(log1, lines.map((one) => `${JSON.stringify(one)}\n`).join(''))
  await home.history.ingest({})
  return { ...shop, log1 }
}

export const AFTER = { source: SESSION, edge: 'after' as const, code: true, chat: true, count: 1 }
export const texts = (directory: string): string[] => readdirSync(directory).filter((name) => name.endsWith('.txt'))

/** Everything that a fork could have left. */
export async function leftovers({ project, root, home }: Workshop): Promise<object> {
  const trees = `${project}.worktrees`
  const forks = join(home.paths.agents, 'forks')
  const notes = existsSync(forks) ? readdirSync(forks) : []
  return {
    trees: existsSync(trees) ? readdirSync(trees) : [],
    known: git(project, 'worktree', 'list').split('\n').length,
    branches: git(project, 'branch', '--format=%(refname:short)').split('\n'),
    logs: readdirSync(join(root, '.claude/projects')).flatMap((name) =>
      readdirSync(join(root, '.claude/projects', name)),
    ),
    agents: (await home.roster.agents()).map(({ address }) => address),
    notes: notes.filter((name) => name.endsWith('.json')),
  }
}
export const NOTHING = { trees: [], known: 1, branches: ['main'], logs: [`${SESSION}.jsonl`], agents: [], notes: [] }
