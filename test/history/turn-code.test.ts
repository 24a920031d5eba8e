import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { codedTurns } from '../../src/history/coded-turns.js'
import { sessionCode } from '../../src/history/turn-code.js'
import type { LoggedTurn } from '../../src/tools/index.js'
import { openTestHome, scratch } from '../home/scratch.js'

const lines = (count: number): string => Array.from({ length: count }, (_, n) => `line ${n}\n`).join('')

it('counts files and lines of each turn, with odd names, renames and binary files, and of edits in between', async () => {
  const root = join(scratch(), 'project')
  mkdirSync(root)
  const { home } = await openTestHome(scratch(), { ms: Date.now() })
  await using _open = home
  const write = (name: string, content: string | Buffer): void => writeFileSync(join(root, name), content)
  const git = (...args: string[]): void => {
    const who = ['-c', 'user.name=a', '-c', 'user.email=a@example.org']
    execFileSync('git', [...who, ...args], { cwd: root, env: { PATH: process.env.PATH, HOME: root } })
  }
  git('init', '-q')
  write('a.txt', lines(10))
  git('add', '-A')
  git('commit', '-qm', 'one')
  let atMs = Date.now() + 10_000
  const turns: LoggedTurn[] = []
  const take = (moment: 'prompt' | 'stop') => {
    atMs += 1_000
    if (moment === 'prompt')
      turns.push({ number: turns.length + 1, copied: false, started_at: new Date(atMs).toISOString() } as LoggedTurn)
    return home.snapshots.capture({ directory: root, session: 's-1', moment, asOfMs: atMs })
  }
  await take('prompt')
  write('deadbeefdeadbeefdeadbeefdeadbeefdeadbeef deadbeefdeadbeefdeadbeefdeadbeefdeadbeef', 'odd\n')
  write('two\nlines', 'odd\n')
  write('bytes.bin', Buffer.from([0, 1, 2, 0, 255]))
  await take('stop')
  await take('prompt')
  await take('stop')
  write('a.txt', `${lines(10)}by a person\n`)
  await take('prompt')
  renameSync(join(root, 'a.txt'), join(root, 'b.txt'))
  rmSync(join(root, 'bytes.bin'))
  git('add', '-A')
  git('commit', '-qm', 'two')
  await take('stop')
  const coded = codedTurns(turns, await home.snapshots.list('s-1'))
  const code = await sessionCode(coded, (pairs) => home.snapshots.changesOf(pairs))
  const shown = [...code.turns].map(([turn, { files, added, removed, head_moved, is_partial }]) => ({
    ...{ turn, files, added, removed, head_moved, is_partial },
  }))
  expect(shown).toEqual([
    { turn: 1, files: 3, added: 2, removed: 0, head_moved: false, is_partial: false },
    { turn: 2, files: 0, added: 0, removed: 0, head_moved: false, is_partial: false },
    { turn: 3, files: 2, added: 0, removed: 0, head_moved: true, is_partial: false },
  ])
  expect(code.turns.get(1)?.changes.map(({ path }) => path)).toContain('two\nlines')
  expect(code.turns.get(3)?.changes).toContainEqual({
    path: 'b.txt',
    from: 'a.txt',
    status: 'renamed',
    added: 0,
    removed: 0,
  })
  expect(code.edits.map(({ after_turn, files, added }) => [after_turn, files, added])).toEqual([[2, 1, 1]])
  const [first, last] = [coded[0]?.before, coded[2]?.after]
  if (!first || !last) throw new Error('a snapshot is missing')
  // The same as one by one.
  expect(await home.snapshots.changesOf([[first, last]])).toEqual([await home.snapshots.changes(first, last)])
})

it('what a late snapshot of a prompt shows already was changed by its turn, not by a person before it', async () => {
  const root = join(scratch(), 'project')
  mkdirSync(root)
  const { home } = await openTestHome(scratch(), { ms: Date.now() })
  await using _open = home
  const write = (name: string, content: string): void => writeFileSync(join(root, name), content)
  const git = (...args: string[]): void => {
    const who = ['-c', 'user.name=a', '-c', 'user.email=a@example.org']
    execFileSync('git', [...who, ...args], { cwd: root, env: { PATH: process.env.PATH, HOME: root } })
  }
  git('init', '-q')
  write('a.txt', 'a\n')
  git('add', '-A')
  git('commit', '-qm', 'one')
  const turns: LoggedTurn[] = []
  const take = (moment: 'prompt' | 'stop', asOfMs: number) => {
    if (moment === 'prompt')
      turns.push({ number: turns.length + 1, copied: false, started_at: new Date(asOfMs).toISOString() } as LoggedTurn)
    return home.snapshots.capture({ directory: root, session: 's-1', moment, asOfMs })
  }
  const firstMs = Date.now()
  await new Promise((resolve) => setTimeout(resolve, 20))
  write('early', '1\n')
  await take('prompt', firstMs)
  write('first', '1\n')
  await take('stop', Date.now() + 2_000)
  write('person', 'edited\n')
  execFileSync('touch', ['-d', '2 hours ago', join(root, 'person')])
  await new Promise((resolve) => setTimeout(resolve, 2_100)) // the next prompt is after that end
  const promptMs = Date.now()
  await new Promise((resolve) => setTimeout(resolve, 20))
  write('second', '1\n2\n')
  await take('prompt', promptMs)
  write('second', '1\n2\n3\n')
  write('third', '3\n')
  await take('stop', Date.now() + 1_000)
  const coded = codedTurns(turns, await home.snapshots.list('s-1'))
  expect(coded[1]?.before).toMatchObject({ exact: false, late: ['second'] })
  const code = await sessionCode(coded, (pairs) => home.snapshots.changesOf(pairs))
  expect(code.turns.get(1)).toMatchObject({ files: 2, added: 1, is_partial: true })
  expect(code.turns.get(1)?.changes).toContainEqual({ path: 'early', status: 'changed' })
  const second = code.turns.get(2)
  expect(second?.changes.map(({ path, status, added }) => [path, status, added]).sort()).toEqual([
    ['second', 'added', 3],
    ['third', 'added', 1],
  ])
  expect(second).toMatchObject({ files: 2, added: 4, is_partial: true })
  expect(code.edits.map(({ changes }) => changes.map(({ path }) => path))).toEqual([['person']])
})
