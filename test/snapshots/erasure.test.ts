import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { filesUnder, Sweep } from '../../src/erasure/index.js'
import { Forgetter } from '../../src/privacy/index.js'
import { SnapshotsErasure } from '../../src/snapshots/index.js'
import { describeErasable } from '../contracts/erasable.js'
import { filesOf, ScratchRepository } from './scratch-repository.js'

const WORDS = 'the wombat digs at midnight'
const program = { executable: 'git', searchPath: process.env.PATH ?? '' }
const of = (repository: ScratchRepository, session: string) => ({
  directory: repository.root,
  session,
  moment: 'stop' as const,
})

/** A repository whose snapshots have the words: committed, staged, untracked, in a name, in a message, loose and packed. */
async function withWords(): Promise<ScratchRepository> {
  const repository = ScratchRepository.withCommits()
  const snapshots = repository.snapshots()
  await snapshots.capture(of(repository, 'other'))
  repository.write('committed.txt', `before\n${WORDS}\nafter\n`)
  repository.commit('with words')
  await snapshots.capture({ ...of(repository, 's-1'), start: { arguments: ['--say', WORDS] } })
  repository.write('committed.txt', 'clean again\n')
  repository.commit('without words')
  await snapshots.capture(of(repository, 's-1'))
  await snapshots.collect({ onlyDue: false })
  repository.write(`${WORDS}.txt`, 'the name has them\n')
  repository.write('staged.txt', `staged: ${WORDS}\n`)
  repository.git('add', 'staged.txt')
  repository.write('staged.txt', 'no longer\n')
  await snapshots.capture(of(repository, 's-1'))
  repository.git('reset', '-q', '--hard')
  repository.git('clean', '-qfd')
  await snapshots.capture(of(repository, 'other'))
  return repository
}

/** What a file of a store holds, by git's own means. */
function textIn(path: string): string {
  if (/\/objects\/[0-9a-f]{2}\//.test(path)) return inflateSync(readFileSync(path)).toString('latin1')
  if (!path.endsWith('.pack')) return readFileSync(path, 'latin1')
  const list = execFileSync('git', ['verify-pack', '-v', path], { encoding: 'utf8' })
  const oids = [...list.matchAll(/^([0-9a-f]{40}) (?:blob|tree|commit)/gm)].map(([, oid]) => oid).join('\n')
  const store = path.slice(0, path.indexOf('/objects/'))
  const args = ['--git-dir', store, 'cat-file', '--batch', '--buffer']
  return execFileSync('git', args, { input: oids, encoding: 'latin1', maxBuffer: 2 ** 30 })
}

describeErasable({
  name: 'of snapshots',
  words: WORDS,
  session: 's-1',
  derived: {
    is: (path) => /\/(?:objects|refs|skein)\/|\/packed-refs$/.test(path),
    reason: 'git packs objects and refs anew',
  },
  open: async () => {
    const repository = await withWords()
    const files = () => [...filesUnder(repository.stores)]
    return {
      root: repository.base,
      store: new SnapshotsErasure(repository.stores, program),
      files,
      holding: (text) => files().filter((path) => !path.endsWith('/lock') && textIn(path).includes(text)),
      [Symbol.asyncDispose]: async () => repository[Symbol.dispose](),
    }
  },
})

it('a snapshot that lost words can be restored, without them and with everything else', async () => {
  using repository = await withWords()
  const snapshots = repository.snapshots()
  const store = new SnapshotsErasure(repository.stores, program)
  const forgetter = new Forgetter([], [WORDS])
  await store.erase(new Sweep({ root: repository.base, forgetter, sessions: new Set(), dryRun: false, generation: 1 }))
  const all = await snapshots.list()
  expect(all.map(({ session, seq }) => `${session} ${seq}`).sort()).toEqual([
    'other 1',
    'other 2',
    's-1 1',
    's-1 2',
    's-1 3',
  ])
  for (const snapshot of all) {
    const path = join(repository.base, `restored-${snapshot.session}-${snapshot.seq}`)
    await snapshots.restore(snapshot, { path })
    const files = filesOf(path)
    expect([...files].flat().filter((text) => text.includes('wombat'))).toEqual([])
    expect(files.get('b.txt')).toBe('file b.txt\n')
  }
  const words = filesOf(join(repository.base, 'restored-s-1-1')).get('committed.txt')
  expect(words).toMatch(/^file before\n.+\nafter\n$/s)
  expect(await snapshots.verify({ full: true })).toMatchObject([{ problems: [], broken: [] }])
  repository.write('new.txt', 'after the purge\n')
  const next = await snapshots.capture(of(repository, 's-1'))
  const path = join(repository.base, 'restored-next')
  await snapshots.restore(next, { path })
  expect(filesOf(path)).toEqual(filesOf(repository.root))
})

it('what was purged does not come back with the next capture', async () => {
  using repository = await withWords()
  const store = new SnapshotsErasure(repository.stores, program)
  const forgetter = new Forgetter([], [WORDS])
  const setup = { root: repository.base, forgetter, sessions: new Set<string>(), dryRun: true, generation: 1 }
  await store.erase(new Sweep({ ...setup, dryRun: false }))
  repository.write('again.txt', `again: ${WORDS}\n`)
  repository.write(`again ${WORDS}`, 'in its name\n')
  repository.write('b.txt', `tracked, and now ${WORDS}\n`)
  repository.write('clean.txt', 'clean\n')
  const { skipped } = await repository.snapshots({}, forgetter).capture(of(repository, 's-1'))
  expect(skipped.map(({ reason }) => reason)).toEqual(['purged', 'purged', 'purged'])
  const sweep = new Sweep(setup)
  await store.erase(sweep)
  expect(sweep.places).toEqual([])
  const holding = [...filesUnder(repository.stores)].filter(
    (path) => !path.endsWith('/lock') && textIn(path).includes(WORDS),
  )
  expect(holding).toEqual([])
})
