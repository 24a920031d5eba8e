import { execFileSync } from 'node:child_process'
import { lstatSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { filesOf, ScratchRepository } from './scratch-repository.js'

const of = (repository: ScratchRepository) => ({ directory: repository.root, session: 's-1', moment: 'stop' as const })
const NAMES = [
  '-x.txt',
  '--upload-pack=x',
  '"quoted".txt',
  '\u001b[31mred',
  ':(glob)x',
  ' blank ',
  'back\\slash',
  "it's",
  'tab\there',
  'D 1',
  ':1',
  'ü.txt',
  '*',
  'a:b',
]

it.each(NAMES)('a file named %j is captured, compared, blamed and put back', { timeout: 60_000 }, async (name) => {
  using repository = ScratchRepository.withCommits()
  const snapshots = repository.snapshots()
  repository.write(`src/${name}`, 'one\ntwo\n')
  repository.commit('odd')
  const first = await snapshots.capture({ ...of(repository), moment: 'prompt', turn: 1 } as never)
  repository.write(`src/${name}`, 'one\nchanged\n')
  const second = await snapshots.capture({ ...of(repository), turn: 1 } as never)
  expect((await snapshots.changes(first, second)).map(({ path }) => path)).toEqual([`src/${name}`])
  const { lines } = await snapshots.blame(repository.path(`src/${name}`))
  expect(lines.length).toBe(2)
  await snapshots.rewind(first, { preview: false })
  expect(readFileSync(repository.path(`src/${name}`), 'utf8')).toBe('one\ntwo\n')
  await snapshots.restore(second, { path: join(repository.base, 'restored') })
  expect(readFileSync(join(repository.base, 'restored', 'src', name), 'utf8')).toBe('one\nchanged\n')
})

describe('a rewind', () => {
  it('does not write through a link that has taken the place of a directory', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    const first = await snapshots.capture(of(repository))
    repository.write('src/c.txt', 'changed\n')
    await snapshots.rewind(first, { preview: true })
    const outside = join(repository.base, 'outside')
    renameSync(repository.path('src'), outside)
    symlinkSync(outside, repository.path('src'))
    await snapshots.rewind(first, { preview: false })
    expect(readFileSync(join(outside, 'c.txt'), 'utf8')).toBe('changed\n')
    expect(lstatSync(repository.path('src')).isDirectory()).toBe(true)
    expect(readFileSync(repository.path('src/c.txt'), 'utf8')).toBe('src/c.txt\n')
  })

  it('replaces a pipe by the file that was there, or refuses', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots({ budgetMs: 3_000 })
    const first = await snapshots.capture(of(repository))
    rmSync(repository.path('a.txt'))
    execFileSync('mkfifo', [repository.path('a.txt')])
    const done = await snapshots.rewind(first, { preview: false }).then(
      () => 'done',
      ({ code }) => String(code),
    )
    expect(
      done === 'done' ? lstatSync(repository.path('a.txt')).isFile() : lstatSync(repository.path('a.txt')).isFIFO(),
    ).toBe(true)
  })
  it.each([
    ['a directory in the place of a file', 'a.txt', 'a.txt/inner/x.log'],
    ['a file in the place of a directory', 'src', 'src'],
    ['a link in the place of a directory', 'src', 'link'],
  ])('keeps a file that no snapshot has: %s', async (_, gone, name) => {
    using repository = ScratchRepository.withCommits()
    repository.write('.gitignore', '*.log\n/src\n/link\n')
    const snapshots = repository.snapshots()
    repository.git('add', '-A', '-f')
    const first = await snapshots.capture(of(repository))
    rmSync(repository.path(gone), { recursive: true })
    if (name === 'link') symlinkSync('/nowhere', repository.path(gone))
    else repository.write(name, 'ignored\n')
    repository.git('add', '-A')
    await snapshots.capture(of(repository))
    const before = filesOf(repository.root)
    const refused = { code: 'snapshot-refused', message: expect.stringContaining('in the way') }
    await expect(snapshots.rewind(first, { preview: true })).rejects.toMatchObject(refused)
    await expect(snapshots.rewind(first, { preview: false })).rejects.toMatchObject(refused)
    expect(filesOf(repository.root)).toEqual(before)
  })
})
