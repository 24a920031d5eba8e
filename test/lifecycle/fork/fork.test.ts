import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { forkConversation } from '../../../src/lifecycle/fork/fork-conversation.js'
import { ForkNotes } from '../../../src/lifecycle/fork/fork-note.js'
import { type ForkPlan, planFork } from '../../../src/lifecycle/fork/fork-plan.js'
import { restoreTree } from '../../../src/lifecycle/fork/fork-tree.js'
import { undoFork } from '../../../src/lifecycle/fork/undo-fork.js'
import type { SessionId } from '../../../src/model/index.js'
import { codedSession, codePoint } from '../../../src/operations/history/code-point.js'
import { forksOf } from '../../../src/operations/history/turn-forks.js'
import { fakeTool } from '../fake-tool.js'
import { partsOf } from '../handoff/parts.js'
import { AFTER, claudeLike, forkable, git, leftovers, NOTHING, projectFolder, SESSION, texts } from './forkable.js'

const hashOf = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

describe('a fork', () => {
  it('has the files of the turn in a worktree of its own, and the conversation up to there', async () => {
    const shop = await forkable()
    const before = hashOf(shop.log1)
    const [fork] = await shop.agents.fork({ ...AFTER, turn: 1 })
    expect(fork).toMatchObject({ conversation: 'cut', turns: 1, turn: 1, source_session_id: SESSION })
    const { worktree = '', branch, session = '' } = fork ?? {}
    expect(branch).toBe(`skein/session/${session.slice(0, 8)}`)
    expect(git(worktree, 'symbolic-ref', '--short', 'HEAD')).toBe(branch)
    expect(texts(worktree)).toEqual(['file-1.txt'])
    expect(git(worktree, 'status', '--porcelain')).toBe('?? file-1.txt')
    const { turns } = await shop.home.history.turns(SESSION)
    await shop.home.history.ingest({})
    const told = await shop.home.history.turns(session)
    expect(told.turns.map(({ prompt, reply }) => ({ prompt, reply }))).toEqual(
      turns.slice(0, 1).map(({ prompt, reply }) => ({ prompt, reply })),
    )
    expect(told.session).toMatchObject({
      forked_from: { session: SESSION, turn: 1 },
      agent: 'claude-fork',
      cwd: worktree,
      branch,
    })
    expect(shop.log().at(-1)).toMatchObject({ started: session, resumed: true })
    expect(hashOf(shop.log1)).toBe(before)
    expect(texts(shop.project)).toEqual(['file-1.txt', 'file-2.txt', 'file-3.txt'])
    expect(git(shop.project, 'symbolic-ref', '--short', 'HEAD')).toBe('main')
  })

  it('forks that are made at once have agents of their own; under one name, one of them is refused', async () => {
    const shop = await forkable()
    const made = (await Promise.all([1, 2, 3].map(() => shop.agents.fork({ ...AFTER, turn: 1 })))).flat()
    expect(made.map(({ agent }) => agent.address).sort()).toEqual(['claude-fork', 'claude-fork-2', 'claude-fork-3'])
    expect(new Set(made.map(({ worktree }) => worktree)).size).toBe(3)
    for (const { worktree = '' } of made) expect(texts(worktree)).toEqual(['file-1.txt'])
    const named = await Promise.allSettled([1, 2].map(() => shop.agents.fork({ ...AFTER, turn: 1, name: 'same' })))
    expect(named.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect((await shop.agents.list()).filter(({ address }) => address === 'same')).toHaveLength(1)
    expect(texts(`${shop.project}.worktrees/same`)).toEqual(['file-1.txt'])
  })

  it('whose directory another fork of that name has made meanwhile leaves it to that one', async () => {
    const shop = await forkable()
    const parts = { ...(await partsOf(shop)), runners: [claudeLike()] }
    const plan = await planFork(parts, { ...AFTER, turn: 1, name: 'same' })
    const note = new ForkNotes(parts).begin('4f2a91c0-1234-4abc-8def-001122334455')
    const directory = `${shop.project}.worktrees/same`
    const write = (): void => {
      if (!existsSync(directory)) git(shop.project, 'worktree', 'add', '-q', '-b', 'same', directory)
    }
    await expect(restoreTree(parts, plan, { note, write, name: 'same' })).rejects.toMatchObject({
      code: 'bad-input',
      message: `${directory} is already there`,
    })
    await undoFork(parts, note)
    expect(git(directory, 'symbolic-ref', '--short', 'HEAD')).toBe('same')
    expect(existsSync(join(directory, 'README.md'))).toBe(true)
  })

  it('says of the turns that it took over where their code is', async () => {
    const shop = await forkable()
    const [fork] = await shop.agents.fork({ ...AFTER, turn: 2 })
    await shop.home.history.ingest({})
    const coded = await codedSession(shop.home, fork?.session ?? '')
    expect(() => codePoint(coded, 1, 'after')).toThrow(
      `Turn 1 of session ${fork?.session?.slice(0, 8)} was copied from session ${SESSION.slice(0, 8)}, which has its code`,
    )
    expect(() => codePoint(coded, 3, 'after')).toThrow(/has no turn 3/)
  })

  it('of a repository that is gone is refused in one line, and leaves nothing', async () => {
    const shop = await forkable()
    renameSync(shop.project, `${shop.project}-moved`)
    for (const code of [true, false])
      await expect(shop.agents.fork({ ...AFTER, turn: 1, code })).rejects.toMatchObject({
        code: code ? 'snapshot-refused' : expect.stringMatching(/^(?!bug)/),
        message: expect.stringMatching(code ? /^The repository .* is no longer there$/ : /./),
      })
    expect(existsSync(`${shop.project}.worktrees`)).toBe(false)
    expect(await shop.agents.list()).toEqual([])
    renameSync(`${shop.project}-moved`, shop.project)
    expect(await leftovers(shop)).toEqual(NOTHING)
  })

  it('before a prompt has the files that the prompt found; several forks of one turn are apart', async () => {
    const shop = await forkable()
    const forks = await shop.agents.fork({ ...AFTER, edge: 'before', turn: 2, count: 2, name: 'again' })
    expect(forks.map(({ branch, turns, turn }) => ({ branch, turns, turn }))).toEqual([
      { branch: 'again', turns: 1, turn: 1 },
      { branch: 'again-2', turns: 1, turn: 1 },
    ])
    for (const { worktree = '' } of forks) expect(texts(worktree)).toEqual(['file-1.txt'])
    expect(new Set(forks.map(({ session }) => session)).size).toBe(2)
  })

  it('of a fork has the files of its origin at a turn that they share', async () => {
    const shop = await forkable()
    const [first] = await shop.agents.fork({ ...AFTER, turn: 2 })
    await shop.home.history.ingest({})
    const [second] = await shop.agents.fork({ ...AFTER, source: first?.session ?? '', turn: 1 })
    expect(texts(second?.worktree ?? '')).toEqual(['file-1.txt'])
    expect(second).toMatchObject({ turns: 1, source_session_id: first?.session })
  })

  it('of a fork works in the same subdirectory, also at a turn of its origin', async () => {
    const shop = await forkable({}, { below: 'packages/web' })
    const [first] = await shop.agents.fork({ ...AFTER, turn: 2, name: 'first' })
    expect(first?.cwd).toBe(`${shop.project}.worktrees/first/packages/web`)
    await shop.home.history.ingest({})
    const [second] = await shop.agents.fork({ ...AFTER, source: first?.session ?? '', turn: 1, name: 'second' })
    expect(second?.cwd).toBe(`${shop.project}.worktrees/second/packages/web`)
    expect(texts(second?.cwd ?? '')).toEqual(['file-1.txt'])
  })

  it('of a directory without git is a copy of it beside it', async () => {
    const shop = await forkable({}, { isGit: false })
    const [fork] = await shop.agents.fork({ ...AFTER, turn: 1 })
    expect(fork?.worktree).toMatch(new RegExp(`^${shop.project}\\.worktrees/[0-9a-f]{8}$`))
    expect(fork).toMatchObject({ conversation: 'cut', turns: 1 })
    expect(fork?.branch).toBeUndefined()
    expect(texts(fork?.worktree ?? '')).toEqual(['file-1.txt'])
    expect(existsSync(join(fork?.worktree ?? '', '.git'))).toBe(false)
  })

  it('of a session whose log is gone has the words of the archive', async () => {
    const shop = await forkable()
    rmSync(shop.log1)
    const [fork] = await shop.agents.fork({ ...AFTER, turn: 2 })
    expect(fork).toMatchObject({ conversation: 'written', turns: 2, turn: 2 })
    expect(texts(fork?.worktree ?? '')).toEqual(['file-1.txt', 'file-2.txt'])
    await shop.home.history.ingest({})
    const { turns } = await shop.home.history.turns(fork?.session ?? '')
    expect(turns.map(({ prompt, reply }) => [prompt, reply])).toEqual([
      ['do 1', 'done 1'],
      ['do 2', 'done 2'],
    ])
    expect(existsSync(shop.log1)).toBe(false)
  })

  it('before the first prompt has its files and no conversation', async () => {
    const shop = await forkable()
    const [fork] = await shop.agents.fork({ ...AFTER, edge: 'before', turn: 1 })
    expect(fork).toMatchObject({ conversation: 'new', turns: 0, did: expect.stringContaining('before its first turn') })
    expect(fork).not.toHaveProperty('turn')
    expect(texts(fork?.worktree ?? '')).toEqual([])
    expect((await shop.home.sessions.find(fork?.session ?? '')).forked_from).toEqual({ session: SESSION })
  })

  it('at a turn with a call that has no result is refused in one line, and made before its prompt', async () => {
    const shop = await forkable()
    const calls = readFileSync(shop.log1, 'utf8').trimEnd().split('\n')
    const last = JSON.parse(calls.at(-1) ?? '')
    const call = { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'sleep 100' } }
    const open = { ...last, message: { ...last.message, content: [call], stop_reason: 'tool_use' } }
    writeFileSync(shop.log1, `${[...calls.slice(0, -1), JSON.stringify(open)].join('\n')}\n`)
    const before = hashOf(shop.log1)
    await expect(shop.agents.fork({ ...AFTER, turn: 3, code: false })).rejects.toMatchObject({
      code: 'turn-open',
      message: 'Turn 3 has a tool call without a result (Bash)',
      next: 'Fork before its prompt (--before), or at an earlier turn',
    })
    expect(await leftovers(shop)).toEqual(NOTHING)
    const [fork] = await shop.agents.fork({ ...AFTER, turn: 3, edge: 'before', code: false })
    expect(fork).toMatchObject({ conversation: 'cut', turns: 2 })
    expect(hashOf(shop.log1)).toBe(before)
  })

  it('says which files had changed before the snapshot had read them', async () => {
    const shop = await forkable()
    const at = { directory: shop.project, session: SESSION, moment: 'prompt' as const }
    await shop.home.snapshots.capture({ ...at, asOfMs: Date.parse('2026-11-16T08:00:30.000Z') })
    const [exact] = await shop.agents.fork({ ...AFTER, turn: 1, code: false })
    expect(exact?.is_exact).toBeUndefined()
    const [fork] = await shop.agents.fork({ ...AFTER, turn: 3, edge: 'before' })
    expect(fork).toMatchObject({ is_exact: false, late: expect.arrayContaining(['file-3.txt']) })
  })

  it('is refused without a snapshot, and then made of the conversation alone, where the source works', async () => {
    const shop = await forkable()
    await expect(shop.agents.fork({ ...AFTER, turn: 3 })).rejects.toMatchObject({
      code: 'snapshot-not-found',
      next: expect.stringContaining('--chat-only'),
    })
    expect(await leftovers(shop)).toEqual(NOTHING)
    const [fork] = await shop.agents.fork({ ...AFTER, turn: 3, code: false })
    expect(fork).toMatchObject({ turns: 3, cwd: shop.project })
    expect(fork).not.toHaveProperty('worktree')
  })

  it('of the files alone begins a new conversation', async () => {
    const shop = await forkable()
    const [fork] = await shop.agents.fork({ ...AFTER, turn: 2, chat: false })
    expect(fork).toMatchObject({ conversation: 'new', turns: 0, turn: 2 })
    expect(texts(fork?.worktree ?? '')).toEqual(['file-1.txt', 'file-2.txt'])
    // The title of the source is of a conversation that these have nothing of.
    await shop.agents.fork({ ...AFTER, edge: 'before', turn: 1 })
    await shop.agents.fork({ ...AFTER, turn: 1 })
    const titles = (await shop.home.roster.agents()).map(({ address, title }) => [address, title])
    expect(titles.sort()).toEqual([
      ['claude-fork', 'claude-fork'],
      ['claude-fork-2', 'claude-fork-2'],
      ['claude-fork-3', 'do 1'],
    ])
  })

  it('leaves nothing behind when its program cannot be started', async () => {
    const broken = { ...claudeLike(), prepare: () => ({ argv: ['/nowhere/claude'] as const, env: {}, files: [] }) }
    const shop = await forkable({ runners: [broken] })
    await expect(shop.agents.fork({ ...AFTER, turn: 2 })).rejects.toMatchObject({ code: 'agent-died' })
    expect(await leftovers(shop)).toEqual(NOTHING)
    expect(await forksOf(shop.home, SESSION as SessionId)).toEqual([])
  })

  it('of a session of which nothing is left but its record is refused with that reason', async () => {
    const shop = await forkable()
    const { id } = await shop.home.sessions.start({ tool: 'claude', cwd: shop.project })
    const request = { ...AFTER, source: id, turn: 1 }
    await expect(shop.agents.fork(request)).rejects.toThrow('There is no turn 1')
    await shop.home.sessions.end(id, { outcome: 'exit' })
    await expect(shop.agents.fork(request)).rejects.toThrow(`Nothing is left of what was said in session ${id}`)
  })

  it('in another tool leaves nothing behind either, not even the conversation that was written for it', async () => {
    const broken = {
      ...fakeTool({ name: 'codex' }),
      prepare: () => ({ argv: ['/nowhere/codex'] as const, env: {}, files: [] }),
    }
    const shop = await forkable({ runners: [claudeLike(), broken] })
    const request = { ...AFTER, turn: 2, tool: 'codex' }
    await expect(shop.agents.fork(request)).rejects.toMatchObject({ code: 'agent-died' })
    expect(await leftovers(shop)).toEqual(NOTHING)
    const sessions = join(shop.root, '.codex/sessions')
    expect(readdirSync(sessions, { recursive: true, encoding: 'utf8' }).filter((name) => /jsonl/.test(name))).toEqual(
      [],
    )
  })

  it('never takes a file back that was there before it', async () => {
    const shop = await forkable()
    const [there, made] = ['there', 'made'].map((name) => join(shop.root, name))
    writeFileSync(there ?? '', "the user's\n")
    const files = [there, made].map((path) => ({ path, content: 'ours\n', onlyIfAbsent: true }))
    const tool = { name: 'claude', cut: () => ({ session: SESSION, turns: 1, files }), facts: () => [] }
    const plan = {
      ...{ request: { ...AFTER, turn: 1 }, session: { id: SESSION, tool: 'claude' }, kept: [{ number: 1 }] },
      ...{ recipe: { tool: 'claude', cwd: shop.project }, log: { tool, ref: { path: shop.log1, session: SESSION } } },
    }
    const noted: string[] = []
    const target = { session: SESSION as SessionId, cwd: shop.project }
    // Whatever becomes of the cut: what is noted is what would be removed.
    await forkConversation(
      shop.parts,
      plan as unknown as ForkPlan,
      target,
      ({ files = [] }) => void noted.push(...files),
    ).catch(() => {})
    expect(noted).toEqual([made])
    expect(readFileSync(there ?? '', 'utf8')).toBe("the user's\n")
  })

  it('that was killed half-way is taken back by the next one', async () => {
    const shop = await forkable()
    const [fork] = await shop.agents.fork({ ...AFTER, turn: 2 })
    await shop.agents.remove(fork?.agent.id ?? '', { force: true })
    const dead = execFileSync('sh', ['-c', 'echo $$'], { encoding: 'utf8' }).trim()
    const { worktree: directory, branch } = fork ?? {}
    const file = join(shop.root, '.claude/projects', projectFolder(directory ?? ''), `${fork?.session}.jsonl`)
    const repository = join(shop.project, '.git')
    const head = git(shop.project, 'rev-parse', 'HEAD')
    const note = {
      v: 1,
      id: 'cut-off',
      pid: Number(dead),
      process_start: 1,
      repository,
      directory,
      branch,
      head,
      files: [file],
    }
    mkdirSync(join(shop.home.paths.agents, 'forks'), { recursive: true })
    writeFileSync(join(shop.home.paths.agents, 'forks/cut-off.json'), JSON.stringify(note))
    await expect(shop.agents.fork({ ...AFTER, turn: 9 })).rejects.toMatchObject({ code: 'bad-input' })
    expect(await leftovers(shop)).toMatchObject({ trees: [], known: 1, branches: ['main'], notes: [], agents: [] })
    expect(existsSync(file)).toBe(false)
  })

  it('does not touch a directory that somebody else made in the place of its worktree', async () => {
    const shop = await forkable()
    const directory = join(`${shop.project}.worktrees`, 'mine')
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, 'precious'), 'x')
    await expect(shop.agents.fork({ ...AFTER, turn: 2, name: 'mine' })).rejects.toThrow(/already there/)
    const note = {
      v: 1,
      id: 'cut-off',
      pid: 1_999_999_999,
      repository: join(shop.project, '.git'),
      directory,
      branch: 'main',
      files: [],
    }
    mkdirSync(join(shop.home.paths.agents, 'forks'), { recursive: true })
    writeFileSync(join(shop.home.paths.agents, 'forks/cut-off.json'), JSON.stringify(note))
    await expect(shop.agents.fork({ ...AFTER, turn: 9 })).rejects.toMatchObject({ code: 'bad-input' })
    expect(readFileSync(join(directory, 'precious'), 'utf8')).toBe('x')
    expect(git(shop.project, 'branch', '--format=%(refname:short)')).toBe('main')
  })

  it('copies the ignored files that .worktreeinclude names, and no link out of the repository', async () => {
    const shop = await forkable()
    const { project } = shop
    writeFileSync(join(project, '.worktreeinclude'), '*.local\n*.txt\n')
    writeFileSync(join(project, 'key.local'), 'k')
    symlinkSync('/etc/passwd', join(project, 'out.local'))
    symlinkSync('key.local', join(project, 'in.local'))
    const [fork] = await shop.agents.fork({ ...AFTER, turn: 1 })
    const { worktree = '', included, not_included } = fork ?? {}
    expect(
      readdirSync(worktree)
        .filter((name) => name.endsWith('.local'))
        .sort(),
    ).toEqual(['in.local', 'key.local'])
    expect(included).toBe(2)
    expect(not_included).toEqual([{ path: 'out.local', because: 'it is a link out of the repository' }])
    expect(texts(worktree)).toEqual(['file-1.txt']) // a file that git does not ignore is as it was at the turn
  })

  it("runs the user's setup command in the worktree; when that fails, nothing is left", async () => {
    const shop = await forkable()
    writeFileSync(join(shop.root, 'config.toml'), '[fork]\nsetup = ["sh", "-c", "pwd > where.txt"]\n')
    const [fork] = await shop.agents.fork({ ...AFTER, turn: 1 })
    expect(readFileSync(join(fork?.worktree ?? '', 'where.txt'), 'utf8').trim()).toBe(fork?.worktree)
    const before = await leftovers(shop)
    writeFileSync(join(shop.root, 'config.toml'), '[fork]\nsetup = ["false"]\n')
    const again = await shop.again()
    await expect(again.agents.fork({ ...AFTER, turn: 1 })).rejects.toMatchObject({ code: 'setup-failed' })
    expect(await leftovers(again)).toEqual(before)
  })
})
