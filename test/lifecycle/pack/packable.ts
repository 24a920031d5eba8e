import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Context } from '../../../src/model/index.js'
import type { ToolRunner } from '../../../src/tools/index.js'
import { fakeTool } from '../fake-tool.js'
import { type Workshop, workshop } from '../workshop.js'

export const SESSION = '7d1b3c2a-5f60-4e6d-9c3b-2a1f0e9d8c7b'
export const SECRET = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'
export const claudeLike = (): ToolRunner => fakeTool({ name: 'claude' })
const atSecond = (second: number): string => new Date(Date.UTC(2026, 10, 16, 8, 0, second)).toISOString()

export const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: cwd },
  }).trimEnd()

/** A session of three turns with the snapshots of each, in a repository or not. */
export async function packable({
  clock,
  ...how
}: Turned & { clock?: Context['clock'] } = {}): Promise<Workshop & { file: string; status: string }> {
  const shop = await workshop({ runners: [claudeLike()], ...(clock ? { clock } : {}) })
  return { ...shop, file: join(shop.root, 'session.skein'), status: await threeTurns(shop, how) }
}

interface Turned {
  isGit?: boolean
  format?: 'sha1' | 'sha256'
}

/** Has the session in this home, and says what `git status` printed after its second turn. `root` is the home of its user. */
export async function threeTurns(
  { project, root, home }: Pick<Workshop, 'project' | 'root' | 'home'>,
  { isGit = true, format = 'sha1' }: Turned = {},
): Promise<string> {
  writeFileSync(join(project, 'README.md'), 'hello\n')
  if (isGit) {
    git(project, 'init', '-q', '-b', 'work', `--object-format=${format}`)
    git(project, 'add', '.')
    git(project, 'commit', '-q', '-m', 'first')
  }
  let status = ''
  const lines: object[] = []
  let parent: string | null = null
  const line = (type: string, second: number, message: object, more: object = {}): void => {
    const uuid = `u${lines.length}`
    const facts = { sessionId: SESSION, cwd: project, version: '2.1.325', timestamp: atSecond(second) }
    lines.push({ type, uuid, parentUuid: parent, ...facts, message, ...more })
    parent = uuid
  }
  for (const turn of [1, 2, 3]) {
    const second = turn * 10
    line('user', second, { role: 'user', content: `do ${turn} in ${project}/src` }, { promptSource: 'typed' })
    const snapshot = { directory: project, session: SESSION, asOfMs: Date.parse(atSecond(second)) }
    await home.snapshots.capture({ ...snapshot, moment: 'prompt' })
    writeFileSync(join(project, `file-${turn}.txt`), `${turn}\n`)
    if (turn === 2) {
      writeFileSync(join(project, 'run.sh'), '#!/bin/sh\n')
      chmodSync(join(project, 'run.sh'), 0o755)
      symlinkSync('/etc', join(project, 'link'))
      writeFileSync(join(project, 'README.md'), 'changed\n')
      if (isGit) git(project, 'add', 'file-1.txt')
    }
    const reply = [{ type: 'text', text: `done ${turn}, the token is ${SECRET}` }]
    line('assistant', second + 2, { id: `m${turn}`, role: 'assistant', content: reply, stop_reason: 'end_turn' })
    await home.snapshots.capture({ ...snapshot, asOfMs: Date.parse(atSecond(second + 3)), moment: 'stop' })
    if (turn === 2 && isGit) status = git(project, 'status', '--porcelain')
  }
  const log = join(root, '.claude/projects', project.replace(/[^A-Za-z0-9]/g, '-'), `${SESSION}.jsonl`)
  mkdirSync(dirname(log), { recursive: true })
  writeFileSync(log, lines.map((one) => `${JSON.stringify(one)}\n`).join(''))
  await home.history.ingest({})
  return status
}

export async function packed(shop: Workshop & { file: string }, more: object = {}) {
  const session = await shop.home.sessions.find(SESSION)
  const request = { sessions: [session], output: shop.file, force: false, code: true, verbatim: false }
  return shop.agents.pack({ ...request, ...more })
}

export const filesOf = (root: string): string[] =>
  readdirSync(root)
    .filter((name) => name !== '.git')
    .sort()

export const leftIn = async ({ root, home }: Workshop): Promise<object> => ({
  agents: (await home.roster.agents()).map(({ address }) => address),
  sessions: (await home.sessions.query({})).sessions.map(({ id }) => id),
  notes: existsSync(join(home.paths.agents, 'forks'))
    ? readdirSync(join(home.paths.agents, 'forks')).filter((name) => name.endsWith('.json'))
    : [],
  stores: existsSync(home.paths.snapshots) ? readdirSync(home.paths.snapshots) : [],
  logs: existsSync(join(root, '.claude/projects')) ? readdirSync(join(root, '.claude/projects')) : [],
  into: existsSync(join(root, 'there')),
})
export const NOTHING = { agents: [], sessions: [], notes: [], stores: [], logs: [], into: false }
