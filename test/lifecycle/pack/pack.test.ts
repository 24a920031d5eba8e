import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { contentsOf } from '../../../src/lifecycle/pack/carried-session.js'
import { memberOf, PackFile, writePack } from '../../../src/lifecycle/pack/container.js'
import { MovedPaths } from '../../../src/lifecycle/pack/moved-paths.js'
import type { ToolRunner } from '../../../src/tools/index.js'
import { fakeTool } from '../fake-tool.js'
import { type Workshop, workshop } from '../workshop.js'

const SESSION = '7d1b3c2a-5f60-4e6d-9c3b-2a1f0e9d8c7b'
const SECRET = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'
const claudeLike = (): ToolRunner => fakeTool({ name: 'claude' })
const atSecond = (second: number): string => new Date(Date.UTC(2026, 10, 16, 8, 0, second)).toISOString()

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: cwd },
  }).trimEnd()

/** A session of three turns with the snapshots of each, in a repository or not. */
async function packable({ isGit = true } = {}): Promise<Workshop & { file: string; status: string }> {
  const shop = await workshop({ runners: [claudeLike()] })
  const { project, root, home } = shop
  writeFileSync(join(project, 'README.md'), 'hello\n')
  if (isGit) {
    git(project, 'init', '-q', '-b', 'work')
    git(project, 'add', '.')
    git(project, 'commit', '-q', '-m', 'first')
  }
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
    if (turn === 2 && isGit) (shop as { status?: string }).status = git(project, 'status', '--porcelain')
  }
  const log = join(root, '.claude/projects', project.replace(/[^A-Za-z0-9]/g, '-'), `${SESSION}.jsonl`)
  mkdirSync(dirname(log), { recursive: true })
  writeFileSync(log, lines.map((one) => `${JSON.stringify(one)}\n`).join(''))
  await home.history.ingest({})
  return { ...shop, file: join(root, 'session.skein'), status: (shop as { status?: string }).status ?? '' }
}

async function packed(shop: Workshop & { file: string }, more: object = {}) {
  const session = await shop.home.sessions.find(SESSION)
  const request = { sessions: [session], output: shop.file, force: false, code: true, verbatim: false }
  return shop.agents.pack({ ...request, ...more })
}

const filesOf = (root: string): string[] =>
  readdirSync(root)
    .filter((name) => name !== '.git')
    .sort()

const leftIn = async ({ root, home }: Workshop): Promise<object> => ({
  agents: (await home.roster.agents()).map(({ address }) => address),
  sessions: (await home.sessions.query({})).sessions.map(({ id }) => id),
  notes: existsSync(join(home.paths.agents, 'forks')) ? readdirSync(join(home.paths.agents, 'forks')) : [],
  stores: existsSync(home.paths.snapshots) ? readdirSync(home.paths.snapshots) : [],
  logs: existsSync(join(root, '.claude/projects')) ? readdirSync(join(root, '.claude/projects')) : [],
  into: existsSync(join(root, 'there')),
})
const NOTHING = { agents: [], sessions: [], notes: [], stores: [], logs: [], into: false }

describe('a pack', () => {
  it('is unpacked in another home: the turns up to the one that was named, its files, index and HEAD, without secrets', async () => {
    const shop = await packable()
    const report = await packed(shop, { turn: 2 })
    expect(report).toMatchObject({
      snapshots: 4,
      is_sealed: false,
      sessions: [{ session: SESSION, turns: 2, turn: 2 }],
    })
    expect(statSync(shop.file).mode & 0o777).toBe(0o600)
    const bytes = readFileSync(shop.file).toString('latin1')
    expect(bytes).not.toContain(SECRET)
    expect(bytes).not.toContain('do 3')

    const other = await workshop({ runners: [claudeLike()] })
    const into = join(other.root, 'there')
    const made = await other.agents.unpack({ file: shop.file, into, name: 'web/again' })
    expect(made).toMatchObject({
      turns: 2,
      turn: 2,
      source_session_id: SESSION,
      conversation: 'written',
      branch: 'work',
    })
    expect(made.agent).toMatchObject({ address: 'web/again', status: 'stopped' })
    expect(filesOf(into)).toEqual(['README.md', 'file-1.txt', 'file-2.txt', 'link', 'run.sh'])
    expect(statSync(join(into, 'run.sh')).mode & 0o100).toBe(0o100)
    expect(git(into, 'status', '--porcelain')).toBe(shop.status)
    expect(git(into, 'fsck', '--strict')).toBe('')
    expect(git(into, 'log', '--format=%s')).toMatch(/^HEAD was /)

    await other.home.history.ingest({})
    const { turns, session } = await other.home.history.turns(made.session)
    expect(turns.map(({ prompt }) => prompt)).toEqual([`do 1 in ${into}/src`, `do 2 in ${into}/src`])
    expect(session).toMatchObject({ forked_from: { session: SESSION, turn: 2 }, agent: 'web/again', cwd: into })
    const coded = await other.home.history.codedTurns(made.session)
    expect(coded.map(({ turn, before, after }) => [turn, before !== undefined, after !== undefined])).toEqual([
      [1, true, true],
      [2, true, true],
    ])

    await other.agents.restart('web/again')
    expect(other.log().at(-1)).toMatchObject({ started: made.session, resumed: true })

    const again = await other.agents.unpack({ file: shop.file, into: `${into}-2` })
    expect(again.session).not.toBe(made.session)
    expect(again.agent.address).not.toBe('web/again')
    expect(filesOf(`${into}-2`)).toEqual(filesOf(into))
  })

  it('of a directory without git has its files', async () => {
    const shop = await packable({ isGit: false })
    await packed(shop)
    const other = await workshop({ runners: [claudeLike()] })
    const into = join(other.root, 'there')
    await other.agents.unpack({ file: shop.file, into })
    expect(existsSync(join(into, '.git'))).toBe(false)
    expect(filesOf(into)).toEqual(filesOf(shop.project))
  })

  it('is continued in another program', async () => {
    const shop = await packable()
    await packed(shop)
    const other = await workshop({ runners: [claudeLike(), fakeTool({ name: 'codex' })] })
    const made = await other.agents.unpack({ file: shop.file, into: join(other.root, 'there'), tool: 'codex' })
    expect(made).toMatchObject({ turns: 3, conversation: 'written', agent: { tool: 'codex' } })
    await other.home.history.ingest({})
    expect((await other.home.history.turns(made.session)).turns).toHaveLength(3)
  })

  it('is verbatim only when it is sealed, and opens only with its passphrase', async () => {
    const shop = await packable()
    await expect(packed(shop, { verbatim: true })).rejects.toMatchObject({ code: 'bad-input' })
    const passphrase_file = join(shop.root, 'phrase')
    writeFileSync(passphrase_file, 'correct horse\n')
    expect(await packed(shop, { verbatim: true, passphrase_file })).toMatchObject({
      is_sealed: true,
      is_verbatim: true,
    })
    const bytes = readFileSync(shop.file).toString('latin1')
    for (const word of [SECRET, 'do 1', 'correct horse', 'README']) expect(bytes).not.toContain(word)

    const other = await workshop({ runners: [claudeLike()] })
    const into = join(other.root, 'there')
    const wrong = other.agents.unpack({ file: shop.file, into, passphrase: 'wrong horse' })
    await expect(wrong).rejects.toMatchObject({ code: 'bad-input', message: expect.stringContaining('does not open') })
    await expect(other.agents.unpack({ file: shop.file, into })).rejects.toThrow('is sealed')
    expect(await leftIn(other)).toEqual(NOTHING)
    const made = await other.agents.unpack({ file: shop.file, into, passphrase: 'correct horse' })
    expect(made.conversation).toBe('cut')
    await other.home.history.ingest({})
    const { turns } = await other.home.history.turns(made.session, { verbatim: true })
    expect(turns.map(({ reply }) => reply)).toContain(`done 1, the token is ${SECRET}`)
    expect(turns[0]?.prompt).toBe(`do 1 in ${into}/src`)
  })

  it('refuses a file that is there unless it is to be replaced, and changes nothing then', async () => {
    const shop = await packable()
    writeFileSync(shop.file, 'mine')
    await expect(packed(shop)).rejects.toThrow('already exists')
    expect(readFileSync(shop.file, 'utf8')).toBe('mine')
    await packed(shop, { force: true })
    expect(readdirSync(shop.root).filter((name) => name.includes('.tmp-'))).toEqual([])
    await expect(packed(shop, { turn: 9, force: true })).rejects.toThrow('There is no turn 9')
  })

  it('whose code was damaged by hand is undone, with nothing left', async () => {
    const shop = await packable()
    await packed(shop)
    const { contents, members } = await opened(shop.file)
    const bundle = members.find(({ name }) => name === 'code.bundle')
    const broken = Buffer.from(bundle?.content ?? '')
    broken.fill(0, broken.length - 40)
    const hostile = join(shop.root, 'hostile.skein')
    const changed = members.map((one) => memberOf(one.name, one === bundle ? broken : one.content))
    await writePack(hostile, contents as object, changed, { replace: false, nowMs: 0 })
    const other = await workshop({ runners: [claudeLike()] })
    await expect(other.agents.unpack({ file: hostile, into: join(other.root, 'there') })).rejects.toThrow('git')
    expect(await leftIn(other)).toEqual(NOTHING)
  })
})

async function opened(path: string) {
  using file = await PackFile.open(path, () => '')
  const contents = contentsOf(file.contents, path)
  const names = ['conversation-0.json', 'native-0', 'code.bundle'].filter((name) => file.has(name))
  return { contents, members: names.map((name) => ({ name, content: Buffer.concat([...file.member(name)]) })) }
}

describe('the file of a pack', () => {
  it('is refused with any byte changed, cut at any length, or lengthened', async () => {
    const shop = await workshop()
    const path = join(shop.root, 'small')
    const damaged = join(shop.root, 'damaged')
    await writePack(path, { v: 1 }, [memberOf('one', 'first'), memberOf('two', '')], { replace: false, nowMs: 0 })
    const whole = readFileSync(path)
    const isRefused = async (bytes: Buffer): Promise<boolean> => {
      writeFileSync(damaged, bytes)
      return PackFile.open(damaged, () => 'no passphrase').then(
        (file) => {
          file[Symbol.dispose]()
          return false
        },
        ({ code }) => ['pack-damaged', 'bad-input', 'newer-format'].includes(code),
      )
    }
    for (let at = 0; at < whole.length; at += 1) {
      const changed = Buffer.from(whole)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(await isRefused(changed), `byte ${at}`).toBe(true)
      expect(await isRefused(whole.subarray(0, at)), `cut at ${at}`).toBe(true)
    }
    expect(await isRefused(Buffer.concat([whole, Buffer.from('x')]))).toBe(true)
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (at, by) => {
        const changed = Buffer.from(whole)
        changed[at] = (changed[at] ?? 0) ^ by
        expect(await isRefused(changed)).toBe(true)
      }),
      { seed: 18, numRuns: 300 },
    )
    ;(await PackFile.open(path, () => ''))[Symbol.dispose]()
  })

  it('of a later version says so; a directory, and a name that leads elsewhere, are refused', async () => {
    const shop = await workshop()
    const path = join(shop.root, 'later')
    writeFileSync(path, '{"format":"skein-pack","v":2}\n')
    await expect(PackFile.open(path, () => '')).rejects.toMatchObject({ code: 'newer-format' })
    const isDirectory = { code: 'bad-input', message: `${shop.root} is a directory, not a file` }
    await expect(PackFile.open(shop.root, () => '')).rejects.toMatchObject(isDirectory)
    const evil = join(shop.root, 'evil')
    await writePack(evil, {}, [memberOf('../../evil', 'x')], { replace: false, nowMs: 0 })
    await expect(PackFile.open(evil, () => '')).rejects.toMatchObject({ code: 'pack-damaged' })
  })
})

it('paths are moved where they are whole, and nowhere else', () => {
  const moved = new MovedPaths(['/home/a/web', '/home/a'], '/srv/b')
  expect(moved.text('see /home/a/web/x.ts, "/home/a/web" and file:///home/a/web.')).toBe(
    'see /srv/b/x.ts, "/srv/b" and file:///srv/b.',
  )
  expect(moved.text('/home/a/web2 /mnt/home/a/web')).toBe('/srv/b/web2 /mnt/home/a/web')
  expect(moved.log('{"cwd":"/home/a/web"}\nnot json /home/a/web\n')).toBe('{"cwd":"/srv/b"}\nnot json /home/a/web\n')
})
