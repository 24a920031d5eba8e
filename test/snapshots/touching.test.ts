import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Snapshots } from '../../src/snapshots/snapshots.js'
import { ScratchRepository } from './scratch-repository.js'

async function turn(snapshots: Snapshots, directory: string, session: string, work: () => void): Promise<void> {
  await snapshots.capture({ directory, session, moment: 'prompt' })
  work()
  await snapshots.capture({ directory, session, moment: 'stop' })
}

it('a path is touched by those who wrote, renamed or removed it, in any worktree, and by no person', async () => {
  using repository = ScratchRepository.withCommits()
  const snapshots = repository.snapshots()
  const { root } = repository
  const touched = async (name: string): Promise<string[]> =>
    (await snapshots.touching(name === '' ? root : repository.path(name))).sessions.sort()
  await turn(snapshots, root, 's-1', () => repository.write('src/c.txt', 'one\ntwo\nthree\n'))
  repository.write('b.txt', 'by hand\n')
  await turn(snapshots, root, 's-2', () => renameSync(repository.path('src/c.txt'), repository.path('src/moved.txt')))
  await turn(snapshots, root, 's-3', () => repository.remove('gone.txt'))
  const other = join(repository.base, 'other')
  repository.git('worktree', 'add', '-q', '-b', 'other', other)
  await turn(snapshots, other, 's-4', () => writeFileSync(join(other, 'src', 'deep', 'd.txt'), 'four\n'))
  expect(await touched('src/moved.txt')).toEqual(['s-1', 's-2'])
  expect(await touched('src/c.txt')).toEqual(['s-1', 's-2'])
  expect(await touched('src')).toEqual(['s-1', 's-2', 's-4'])
  expect(await touched('gone.txt')).toEqual(['s-3'])
  expect(await touched('b.txt')).toEqual([])
  expect(await touched('never/was/here.txt')).toEqual([])
  expect(await touched('')).toEqual(['s-1', 's-2', 's-3', 's-4'])
  expect((await snapshots.touching(join(repository.base, 'outside.txt'))).captured).toEqual([])
})

it('a path of a directory without git is touched, too', async () => {
  using repository = new ScratchRepository()
  const snapshots = repository.snapshots()
  mkdirSync(repository.path('sub'))
  await turn(snapshots, repository.root, 's-1', () => repository.write('sub/x.txt', 'x\n'))
  expect((await snapshots.touching(repository.path('sub'))).sessions).toEqual(['s-1'])
})
