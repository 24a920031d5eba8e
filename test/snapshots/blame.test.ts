import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Snapshots } from '../../src/snapshots/snapshots.js'
import { seededRandom } from '../support/random.js'
import { ScratchRepository } from './scratch-repository.js'

type Blame = Awaited<ReturnType<Snapshots['blame']>>

/** Whose each line is, in one word: a session, `edit`, `now`, the summary of a commit, or `before`. */
const wordsOf = ({ lines }: Blame): string[] =>
  lines.map(({ origin }) =>
    origin.kind === 'turn' ? origin.writer.session : origin.kind === 'commit' ? origin.summary : origin.kind,
  )

async function turn(snapshots: Snapshots, directory: string, session: string, work: () => void): Promise<void> {
  await snapshots.capture({ directory, session, moment: 'prompt' })
  work()
  await snapshots.capture({ directory, session, moment: 'stop' })
}

describe('the origin of a line', () => {
  it('is the turn, the person or the commit that wrote it, also when all of it was committed, squashed and renamed', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    repository.write('list.txt', 'old one\nold two\n')
    repository.commit('the old lines')
    await turn(snapshots, repository.root, 's-1', () => repository.write('list.txt', 'old one\nfrom s-1\nold two\n'))
    repository.write('list.txt', 'old one\nfrom s-1\nby hand\nold two\n')
    await turn(snapshots, repository.root, 's-2', () =>
      repository.write('list.txt', 'from s-2\nold one\nfrom s-1\nby hand\nold two\n'),
    )
    repository.commit('wip')
    await turn(snapshots, repository.root, 's-1', () =>
      renameSync(repository.path('list.txt'), repository.path('renamed.txt')),
    )
    repository.git('reset', '-q', '--soft', 'HEAD~1')
    repository.commit('all in one')
    repository.git('gc', '-q', '--prune=now')
    writeFileSync(repository.path('renamed.txt'), `${readFileSync(repository.path('renamed.txt'), 'utf8')}just now\n`)
    const blame = await snapshots.blame(repository.path('renamed.txt'))
    expect(blame.path).toBe('renamed.txt')
    expect(wordsOf(blame)).toEqual(['s-2', 'the old lines', 's-1', 'edit', 'the old lines', 'now'])
  })

  it('is found in another worktree when its branch was merged or squashed', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    repository.write('code.txt', 'one\ntwo\nthree\n')
    repository.commit('base')
    const other = join(repository.base, 'other')
    repository.git('worktree', 'add', '-q', '-b', 'feature', other)
    await turn(snapshots, repository.root, 'main-1', () => repository.write('b.txt', 'unrelated\n'))
    await turn(snapshots, other, 'feature-1', () =>
      writeFileSync(join(other, 'code.txt'), 'one\nfeature\ntwo\nthree\n'),
    )
    repository.gitIn(other, 'commit', '-qam', 'feature')
    repository.git('commit', '-qam', 'unrelated')
    repository.git('merge', '-q', '--squash', 'feature')
    repository.git('commit', '-qm', 'squashed')
    await turn(snapshots, repository.root, 'main-2', () =>
      repository.write('code.txt', `${readFileSync(repository.path('code.txt'), 'utf8')}four\n`),
    )
    const blame = await snapshots.blame(repository.path('code.txt'))
    expect(wordsOf(blame)).toEqual(['base', 'feature-1', 'base', 'base', 'main-2'])
  })

  it('is the turn of this worktree where another one has made the same file with the same words', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    const other = join(repository.base, 'other')
    repository.git('worktree', 'add', '-q', '-b', 'feature', other)
    await turn(snapshots, other, 'there', () => writeFileSync(join(other, 'new.txt'), 'same\n'))
    await turn(snapshots, repository.root, 'here', () => repository.write('new.txt', 'same\n'))
    expect(wordsOf(await snapshots.blame(repository.path('new.txt')))).toEqual(['here'])
    expect(wordsOf(await snapshots.blame(join(other, 'new.txt')))).toEqual(['there'])
  })

  it('is the turn also when the agent committed, amended or rebased in it', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    repository.write('list.txt', 'old\n')
    repository.commit('the old line')
    await turn(snapshots, repository.root, 's-1', () => {
      repository.write('list.txt', 'old\nfrom s-1\n')
      repository.write('new.txt', 'new of s-1\n')
      repository.commit('by s-1')
    })
    await turn(snapshots, repository.root, 's-2', () => {
      repository.write('list.txt', 'old\nfrom s-1\nfrom s-2\n')
      repository.git('commit', '-qa', '--amend', '--no-edit')
    })
    await turn(snapshots, repository.root, 's-3', () => {
      repository.write('list.txt', 'from s-3\nold\nfrom s-1\nfrom s-2\n')
      repository.git('commit', '-qam', 'by s-3')
      repository.git('reset', '-q', '--soft', 'HEAD~2')
      repository.git('commit', '-qm', 'squashed in the turn')
    })
    expect(wordsOf(await snapshots.blame(repository.path('list.txt')))).toEqual(['s-3', 'the old line', 's-1', 's-2'])
    expect(wordsOf(await snapshots.blame(repository.path('new.txt')))).toEqual(['s-1'])
  })

  it('is the turn also where the snapshot of its prompt was taken after the turn had begun to write', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    await turn(snapshots, repository.root, 's-1', () => repository.write('list.txt', 'from s-1\n'))
    repository.write('other.txt', 'by hand\n')
    const asOfMs = Date.now() + 20
    while (Date.now() <= asOfMs + 20) await new Promise((resolve) => setTimeout(resolve, 5))
    repository.write('list.txt', 'from s-1\nfrom s-2\n')
    await snapshots.capture({ directory: repository.root, session: 's-2', moment: 'prompt', asOfMs })
    repository.write('list.txt', 'from s-1\nfrom s-2\nfrom s-2 as well\n')
    await snapshots.capture({ directory: repository.root, session: 's-2', moment: 'stop' })
    expect(wordsOf(await snapshots.blame(repository.path('list.txt')))).toEqual(['s-1', 's-2', 's-2'])
    expect(wordsOf(await snapshots.blame(repository.path('other.txt')))).toEqual(['edit'])
  })

  it('is the first turn of all, too, where the snapshot of its prompt shows what it wrote; what a commit has is of the commit', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    repository.write('notes.txt', 'from before\n')
    const asOfMs = Date.now() + 20
    while (Date.now() <= asOfMs + 20) await new Promise((resolve) => setTimeout(resolve, 5))
    repository.write('list.txt', 'from s-1\n')
    repository.write('b.txt', 'b.txt\nfrom s-1\n')
    await snapshots.capture({ directory: repository.root, session: 's-1', moment: 'prompt', asOfMs })
    await snapshots.capture({ directory: repository.root, session: 's-1', moment: 'stop' })
    expect(wordsOf(await snapshots.blame(repository.path('list.txt')))).toEqual(['s-1'])
    expect(wordsOf(await snapshots.blame(repository.path('b.txt')))).toEqual(['one', 's-1'])
    expect(wordsOf(await snapshots.blame(repository.path('notes.txt')))).toEqual(['before'])
  })

  it('stays with who wrote it when a person renames the file and commits that, with no snapshot since', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    await turn(snapshots, repository.root, 's-1', () => repository.write('list.txt', 'one\ntwo\nthree\n'))
    repository.commit('all of it')
    repository.git('mv', 'list.txt', 'moved.txt')
    repository.write('moved.txt', 'one\ntwo\nthree\nby hand\n')
    repository.commit('renamed')
    const words = wordsOf(await snapshots.blame(repository.path('moved.txt')))
    expect(words).toEqual(['s-1', 's-1', 's-1', 'renamed'])
  })

  it('stays with who wrote it when a later turn commits the file, renames it, changes it and commits again', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    await turn(snapshots, repository.root, 's-1', () => repository.write('list.txt', 'one\ntwo\nthree\n'))
    await turn(snapshots, repository.root, 's-2', () => {
      repository.git('add', 'list.txt')
      repository.git('commit', '-qm', 'add')
      repository.git('mv', 'list.txt', 'moved.txt')
      repository.write('moved.txt', 'one\ntwo\nthree\nfour\n')
      repository.git('commit', '-qam', 'renamed')
    })
    expect(wordsOf(await snapshots.blame(repository.path('moved.txt')))).toEqual(['s-1', 's-1', 's-1', 's-2'])
  })

  it('stays with who wrote it when it is cherry-picked, by a person or by another agent', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    repository.write('list.txt', 'old\n')
    repository.commit('the old line')
    repository.git('checkout', '-q', '-b', 'feature')
    await turn(snapshots, repository.root, 's-1', () => {
      repository.write('list.txt', 'old\nfrom s-1\n')
      repository.commit('by s-1')
    })
    repository.git('checkout', '-q', '-b', 'bob', 'main')
    repository.write('list.txt', 'from bob\nold\n')
    repository.git('commit', '-qam', 'by bob', '--author', 'Bob <bob@example.org>', '--date', '2020-01-01T00:00:00Z')
    repository.git('checkout', '-q', 'main')
    await turn(snapshots, repository.root, 's-2', () => {
      repository.git('cherry-pick', 'bob')
      repository.git('cherry-pick', 'feature')
      repository.write('list.txt', 'from bob\nold\nfrom s-1\nfrom s-2\n')
      repository.git('commit', '-qam', 'by s-2')
    })
    const words = wordsOf(await snapshots.blame(repository.path('list.txt')))
    expect(words).toEqual(['by bob', 'the old line', 's-1', 's-2'])
    repository.git('checkout', '-q', '-b', 'release', 'main~3')
    await turn(snapshots, repository.root, 's-4', () => repository.write('b.txt', 'else\n'))
    repository.git('cherry-pick', 'feature')
    await turn(snapshots, repository.root, 's-5', () => repository.write('b.txt', 'else again\n'))
    expect(wordsOf(await snapshots.blame(repository.path('list.txt')))).toEqual(['the old line', 's-1'])
  })

  it('is known without git, and for names that are not plain', async () => {
    using repository = new ScratchRepository()
    const snapshots = repository.snapshots()
    const name = 'a "quoted" näme.txt'
    repository.write(name, 'first\n')
    await turn(snapshots, repository.root, 's-1', () => repository.write(name, 'first\nsecond\n'))
    const blame = await snapshots.blame(repository.path(name))
    expect(blame).toMatchObject({ path: name })
    expect(wordsOf(blame)).toEqual(['before', 's-1'])
  })

  it('names the others that worked in the same worktree at the time', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    const { root: directory } = repository
    await snapshots.capture({ directory, session: 's-1', moment: 'prompt' })
    await snapshots.capture({ directory, session: 's-2', moment: 'prompt' })
    repository.write('shared.txt', 'whose?\n')
    await snapshots.capture({ directory, session: 's-1', moment: 'stop' })
    const [line] = (await snapshots.blame(repository.path('shared.txt'))).lines
    expect(line?.origin).toMatchObject({ kind: 'turn', writer: { session: 's-1', beside: ['s-2'] } })
  })

  it('is refused where nothing was captured, and for what is no file', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    await expect(snapshots.blame(repository.path('a.txt'))).rejects.toMatchObject({ code: 'snapshot-not-found' })
    await expect(snapshots.blame(repository.path('src'))).rejects.toMatchObject({ code: 'bad-input' })
    await expect(snapshots.blame(repository.path('nothing'))).rejects.toMatchObject({ code: 'bad-input' })
  })
})

it('two agents and a person, 200 turns: every line has its writer', async () => {
  using repository = ScratchRepository.withCommits()
  const snapshots = repository.snapshots()
  const random = seededRandom()
  const path = repository.path('story.txt')
  const lines = Array.from({ length: 30 }, (_, n) => `commit: line ${n}`)
  const write = (): void => writeFileSync(path, `${lines.join('\n')}\n`)
  let count = 0
  /** One to three lines are added, replaced or removed; each says who wrote it. */
  const change = (who: string): void => {
    for (let n = 1 + random(3); n > 0; n -= 1) {
      const at = random(lines.length + 1)
      count += 1
      const text = `${who}: line ${count}`
      const kind = random(4)
      if (kind === 0 && lines.length > 10) lines.splice(at, 1)
      else lines.splice(at, kind === 1 ? 1 : 0, text)
    }
    write()
  }
  write()
  repository.commit('commit')
  for (let n = 0; n < 200; n += 1) {
    const session = random(2) === 0 ? 'agent-1' : 'agent-2'
    if (random(3) === 0) change('edit')
    await turn(snapshots, repository.root, session, () => {
      change(session)
      if (random(5) === 0) repository.commit(`by ${session} at ${n}`)
    })
    if (random(20) === 0 && repository.status() !== '') repository.commit(`squashed at ${n}`)
  }
  const blame = await snapshots.blame(path)
  const wrong = blame.lines.filter(({ text }, n) => text.split(':')[0] !== wordsOf(blame)[n])
  console.info(`${blame.lines.length} lines after 200 turns, ${wrong.length} with another writer`)
  expect(blame.lines.map(({ text }) => text)).toEqual(lines)
  expect(wrong).toEqual([])
})
