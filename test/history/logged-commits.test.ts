import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { printedCommits } from '../../src/ingest/turns/printed-commits.js'
import { sessionsThatTouch } from '../../src/operations/sessions/by-code.js'
import { openTestHome, scratch } from '../home/scratch.js'

const SESSION = '33333333-3333-4333-8333-333333333333'

interface Call {
  name: string
  input: object
  result: string
  at: string
}

/** What a log of Claude Code says of calls of its tools. */
function logCalls(root: string, cwd: string, calls: readonly Call[], session = SESSION): void {
  const directory = join(root, '.claude', 'projects', '-srv')
  mkdirSync(directory, { recursive: true })
  const base = { sessionId: session, cwd, version: '2.1.325', isSidechain: false }
  const lines = calls.flatMap(({ name, input, result, at }) => {
    const id = `${session}-${at}`
    const call = { type: 'tool_use', id: `toolu_${id}`, name, input }
    const answer = [{ type: 'tool_result', tool_use_id: call.id, content: result }]
    const message = { id: `m-${id}`, role: 'assistant', model: 'claude-opus-5', content: [call] }
    return [
      { type: 'user', uuid: `${id}-1`, parentUuid: null, timestamp: at, message: { role: 'user', content: 'go on' } },
      { type: 'assistant', uuid: `${id}-2`, parentUuid: `${id}-1`, timestamp: at, requestId: `r-${id}`, message },
      {
        type: 'user',
        uuid: `${id}-3`,
        parentUuid: `${id}-2`,
        timestamp: at,
        message: { role: 'user', content: answer },
      },
    ].map((line) => `${JSON.stringify({ ...line, ...base })}\n`)
  })
  appendFileSync(join(directory, `${session}.jsonl`), lines.join(''))
}

function repositoryIn(path: string) {
  mkdirSync(path)
  const env = { PATH: process.env.PATH, HOME: path, GIT_CONFIG_NOSYSTEM: '1' }
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], {
      cwd: path,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  git('init', '-q', '-b', 'main')
  return git
}

describe('commits that git printed in a log', () => {
  it('are those of git commit, not those of git log, of words about one, or of another tool', () => {
    expect(printedCommits('[main 4f2a91c] Subject\n 1 file changed, 1 insertion(+)\n')).toEqual(['4f2a91c'])
    expect(printedCommits('[main (root-commit) 4f2a91c] S\n 2 files changed, 3 insertions(+)')).toEqual(['4f2a91c'])
    expect(printedCommits('[detached HEAD 4f2a91c] S\n Date: Tue\n 1 file changed')).toEqual(['4f2a91c'])
    expect(printedCommits('4f2a91c Subject\n 1 file changed')).toEqual([])
    expect(printedCommits('commit 4f2a91c0\nAuthor: Ada\n\n    [main 4f2a91c] S\n\n 1 file changed')).toEqual([])
    expect(printedCommits('[main 4f2a91c] as I said, nothing changed')).toEqual([])
  })

  it('belong to the session if the repository has them and dates them so, and only once', async () => {
    const root = scratch()
    const git = repositoryIn(join(root, 'project'))
    const made = (name: string): string => {
      writeFileSync(join(root, 'project', name), `${name}\n`)
      git('add', '-A')
      return git('commit', '-m', name)
    }
    const at = (ms: number): string => new Date(Date.now() + ms).toISOString()
    const run = (result: string, when: string): Call => ({
      name: 'Bash',
      input: { command: 'git commit' },
      result,
      at: when,
    })
    const first = made('one')
    logCalls(root, join(root, 'project'), [
      run(first, at(0)),
      run('[main 1234567] of nowhere\n 1 file changed\n', at(1)),
      { ...run(made('two'), at(2)), name: 'Read' },
      run(made('three'), at(86_400_000)),
    ])
    const { home } = await openTestHome(root, { ms: Date.now() })
    await home.history.ingest()
    const one = git('rev-parse', 'main~2').trim()
    expect((await home.sessions.get(SESSION))?.commits).toEqual([one])
    const four = made('four')
    logCalls(root, join(root, 'project'), [run(four, at(3))])
    await home.history.ingest()
    await home.history.ingest()
    expect((await home.sessions.get(SESSION))?.commits).toEqual([one, git('rev-parse', 'main').trim()])
    rmSync(join(root, 'project'), { recursive: true })
    logCalls(root, join(root, 'project'), [run('[main abcdef1] gone\n 1 file changed\n', at(4))])
    await home.history.ingest()
    expect((await home.sessions.get(SESSION))?.commits?.at(-1)).toBe('abcdef1')
    await home[Symbol.asyncDispose]()
  })
})

it('a session without snapshots touches the files that its calls changed, by their full or relative names', async () => {
  const root = scratch()
  repositoryIn(join(root, 'project'))
  const cwd = join(root, 'project')
  const at = (second: number): string => `2026-11-14T10:00:0${second}.000Z`
  logCalls(root, cwd, [
    { name: 'Write', input: { file_path: join(cwd, 'src/a.ts'), content: 'x' }, result: 'ok', at: at(1) },
    { name: 'Edit', input: { file_path: 'b.ts', old_string: 'x', new_string: 'y' }, result: 'ok', at: at(2) },
    { name: 'Read', input: { file_path: join(cwd, 'c.ts') }, result: 'x', at: at(3) },
  ])
  const { home } = await openTestHome(root, { ms: Date.now() })
  await home.history.ingest()
  const touched = (name: string): Promise<string[]> => sessionsThatTouch(home, join(cwd, name))
  expect(await touched('src/a.ts')).toEqual([SESSION])
  expect(await touched('src')).toEqual([SESSION])
  expect(await touched('b.ts')).toEqual([SESSION])
  expect(await touched('c.ts')).toEqual([])
  expect(await touched('src/a')).toEqual([])
  await home[Symbol.asyncDispose]()
})
