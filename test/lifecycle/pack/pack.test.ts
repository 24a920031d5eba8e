import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { contentsOf } from '../../../src/lifecycle/pack/carried-session.js'
import { memberOf, PackFile, writePack } from '../../../src/lifecycle/pack/container.js'
import { MovedPaths } from '../../../src/lifecycle/pack/moved-paths.js'
import { fakeTool } from '../fake-tool.js'
import { workshop } from '../workshop.js'
import { claudeLike, filesOf, git, leftIn, NOTHING, packable, packed, SECRET, SESSION } from './packable.js'

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
    // By what was late, a turn's work is told from that of a person before it.
    const late = (all: typeof coded) => all.slice(0, 2).map(({ before, after }) => [before?.late, after?.late])
    expect(late(coded)).toEqual(late(await shop.home.history.codedTurns(SESSION)))
    expect(coded[0]?.after?.late).toContain('file-1.txt')

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

  it.each([
    ['too many files', 10, 5, {}, 'unfolds to more than 2000000 files'],
    ['too many bytes', 1_000_000, 2, {}, 'unfolds to 10.00 GB, more than 8 GB'],
    ['more than the disk has left', 100_000_000, 3, { max_gb: 2_000_000 }, 'takes 100000.00 GB; the disk of'],
  ])('of a few bytes that unfolds to %s is refused, with nothing left', async (_, bytes, levels, more, why) => {
    const shop = await packable()
    const [store = ''] = readdirSync(shop.home.paths.snapshots)
    const bare = join(shop.home.paths.snapshots, store)
    const made = (input: string | Buffer, ...args: string[]): string =>
      execFileSync('git', ['--git-dir', bare, ...args], { input, encoding: 'utf8' }).trim()
    let entry = `100644 blob ${made(Buffer.alloc(bytes), 'hash-object', '-w', '--stdin')}`
    for (let level = 0; level < levels; level += 1) {
      const names = Array.from({ length: 100 }, (_one, n) => `${entry}\t${String(n).padStart(3, '0')}\n`)
      entry = `040000 tree ${made(names.join(''), 'mktree')}`
    }
    replaceLast(bare, (await shop.home.snapshots.list(SESSION)).at(-1)?.commit ?? '', 'worktree', entry)
    await packed(shop)
    const other = await workshop({ runners: [claudeLike()] })
    const unpacking = other.agents.unpack({ file: shop.file, into: join(other.root, 'there'), ...more })
    await expect(unpacking).rejects.toThrow(why)
    expect(await leftIn(other)).toEqual(NOTHING)
  })

  it('with a conversation that is nested too deeply is refused in one line', async () => {
    const shop = await packable()
    await packed(shop)
    const { contents, members } = await opened(shop.file)
    const hostile = join(shop.root, 'hostile.skein')
    const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const changed = members.map(({ name, content }) => {
      if (name !== 'conversation-0.json') return memberOf(name, content)
      const said = JSON.parse(content.toString())
      said.turns[0].parts.push({ kind: 'call', id: 'c', name: 'Run', input: { deep: 'DEEP' } })
      return memberOf(name, JSON.stringify(said).replace('"DEEP"', nested))
    })
    await writePack(hostile, contents as object, changed, { replace: false, nowMs: 0 })
    const other = await workshop({ runners: [claudeLike()] })
    const unpacking = other.agents.unpack({ file: hostile, into: join(other.root, 'there') })
    await expect(unpacking).rejects.toMatchObject({
      code: 'pack-damaged',
      message: expect.stringContaining('is damaged'),
    })
    expect(await leftIn(other)).toEqual(NOTHING)
  })

  it('with an object that repeats another a hundred times is refused before it takes the memory for it', async () => {
    const shop = await packable()
    await packed(shop)
    const { contents, members } = await opened(shop.file)
    const hostile = join(shop.root, 'hostile.skein')
    const changed = members.map(({ name, content }) =>
      memberOf(name, name === 'code.bundle' ? withDeltaBomb(content) : content),
    )
    await writePack(hostile, contents as object, changed, { replace: false, nowMs: 0 })
    const other = await workshop({ runners: [claudeLike()] })
    await expect(other.agents.unpack({ file: hostile, into: join(other.root, 'there') })).rejects.toMatchObject({
      message: expect.stringContaining('git index-pack'),
      details: expect.arrayContaining([expect.stringContaining('over limit')]),
    })
    expect(await leftIn(other)).toEqual(NOTHING)
  })

  it.each([
    ['a file outside the git directory', { pending: { '../../../../evil': 'x' } }],
    [
      'hooks and configuration',
      { pending: { config: '[core]\n\tfsmonitor = touch evil\n', 'hooks/post-checkout': '' } },
    ],
    ['an option of git', { stages: [{ mode: '100644', oid: '--all', stage: 1, path: 'a' }] }],
    ['two entries in one', { skipped: ['README.md\0../evil'] }],
    ['a list that is none', { stages: 'no', intents: { length: 1 } }],
  ])('with details that name %s makes no worktree, and writes nothing', async (_, details) => {
    const shop = await packable()
    const [store = ''] = readdirSync(shop.home.paths.snapshots)
    const bare = join(shop.home.paths.snapshots, store)
    const snapshot = (await shop.home.snapshots.list(SESSION)).at(-1)
    const commit = snapshot?.commit ?? ''
    const blob = execFileSync('git', ['--git-dir', bare, 'hash-object', '-w', '--stdin'], {
      input: JSON.stringify(details),
      encoding: 'utf8',
    }).trim()
    const hostile = replaceLast(bare, commit, 'details', `100644 blob ${blob}`)
    await packed(shop)
    const other = await workshop({ runners: [claudeLike()] })
    await expect(other.agents.unpack({ file: shop.file, into: join(other.root, 'there') })).rejects.toMatchObject({
      code: 'snapshot-refused',
    })
    expect(await leftIn(other)).toEqual(NOTHING)
    // The same for one that is already there.
    const [there] = (await shop.home.snapshots.list(SESSION)).filter((one) => one.commit === hostile)
    const before = readFileSync(join(shop.project, '.git/config'), 'utf8')
    const restoring = there && shop.home.snapshots.restore(there, { path: join(shop.root, 'restored') })
    await expect(restoring).rejects.toMatchObject({ code: 'snapshot-refused' })
    expect(readFileSync(join(shop.project, '.git/config'), 'utf8')).toBe(before)
    expect([join(shop.root, 'restored'), join(shop.root, 'evil')].filter((path) => existsSync(path))).toEqual([])
  })
})

/** A snapshot with another entry in place of its own, under the same names. */
function replaceLast(bare: string, commit: string, name: string, entry: string): string {
  const entries = git(bare, 'cat-file', '-p', `${commit}^{tree}`)
    .split('\n')
    .filter((line) => !line.endsWith(`\t${name}`))
  const tree = execFileSync('git', ['--git-dir', bare, 'mktree', '--missing'], {
    input: [...entries, `${entry}\t${name}`].map((line) => `${line}\n`).join(''),
    encoding: 'utf8',
  }).trim()
  const hostile = git(bare, 'commit-tree', '-m', git(bare, 'log', '-1', '--format=%B', commit), tree)
  for (const ref of git(bare, 'for-each-ref', '--format=%(refname)', `--points-at=${commit}`).split('\n'))
    git(bare, 'update-ref', ref, hostile)
  return hostile
}

/** The same bundle with 16 MB of zeros and an object of ten bytes a piece that repeats them: 1.5 GB. */
function withDeltaBomb(bundle: Buffer): Buffer {
  const begin = bundle.indexOf('PACK')
  const pack = bundle.subarray(begin, -20)
  pack.writeUInt32BE(pack.readUInt32BE(8) + 2, 8)
  const [base, copies] = [0xffffff, 90]
  const varint = (value: number): Buffer => {
    const bytes: number[] = []
    for (let left = value; ; left = Math.floor(left / 128)) {
      bytes.push((left % 128) | (left >= 128 ? 128 : 0))
      if (left < 128) return Buffer.from(bytes)
    }
  }
  const header = (type: number, size: number): Buffer =>
    Buffer.concat([
      Buffer.from([(type << 4) | (size % 16) | (size >= 16 ? 128 : 0)]),
      ...(size >= 16 ? [varint(Math.floor(size / 16))] : []),
    ])
  const blob = Buffer.concat([header(3, base), deflateSync(Buffer.alloc(base))])
  const copy = Buffer.from([0xf0, 0xff, 0xff, 0xff])
  const delta = Buffer.concat([varint(base), varint(base * copies), ...Array.from({ length: copies }, () => copy)])
  const bytes = [blob.length & 127]
  for (let left = blob.length >> 7; left > 0; left >>= 7) {
    left -= 1
    bytes.unshift(128 | (left & 127))
  }
  const all = Buffer.concat([pack, blob, header(6, delta.length), Buffer.from(bytes), deflateSync(delta)])
  return Buffer.concat([bundle.subarray(0, begin), all, createHash('sha1').update(all).digest()])
}

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
