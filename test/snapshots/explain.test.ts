import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { CommitExplanation } from '../../src/snapshots/index.js'
import type { Snapshots } from '../../src/snapshots/snapshots.js'
import { seededRandom } from '../support/random.js'
import { ScratchRepository } from './scratch-repository.js'

type Origin = NonNullable<CommitExplanation['files'][number]['whole']>

const wordOf = (origin: Origin): string =>
  origin.kind === 'turn' ? origin.writer.session : origin.kind === 'commit' ? origin.summary : origin.kind

/** By file: whose each added line is, and behind a minus who removed a line. */
const wordsOf = ({ files }: CommitExplanation): Record<string, string> =>
  Object.fromEntries(
    files.map(({ path, origins, removals, whole, left_out }) => [
      path,
      [
        ...[...origins.values()].map(wordOf),
        ...[...removals.values()].map((one) => `-${wordOf(one)}`),
        ...(whole ? [`=${wordOf(whole)}`] : []),
        ...(left_out ? [`(${left_out})`] : []),
      ].join(' '),
    ]),
  )

async function turn(snapshots: Snapshots, directory: string, session: string, work: () => void): Promise<void> {
  await snapshots.capture({ directory, session, moment: 'prompt' })
  work()
  await snapshots.capture({ directory, session, moment: 'stop' })
}

/** Two agents and a person have written lines of one file, and nothing is committed. */
async function written(repository: ScratchRepository): Promise<Snapshots> {
  const snapshots = repository.snapshots()
  repository.write('list.txt', 'old one\nold two\nold three\n')
  repository.commit('the old lines')
  const { root } = repository
  await turn(snapshots, root, 's-1', () => repository.write('list.txt', 'old one\nfrom s-1\nold two\nold three\n'))
  repository.write('list.txt', 'old one\nfrom s-1\nby hand\nold two\nold three\n')
  await turn(snapshots, root, 's-2', () =>
    repository.write('list.txt', 'old one\nfrom s-1\nby hand\nold two\ntwo of s-2\n'),
  )
  return snapshots
}

const WRITTEN = { 'list.txt': 's-1 edit s-2 -s-2' }

describe('a commit is explained by who wrote its lines', () => {
  it('when a person commits what agents and the person wrote', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = await written(repository)
    repository.commit('all of it')
    expect(wordsOf(await snapshots.explain(repository.root, 'HEAD'))).toEqual(WRITTEN)
  })

  it('when it holds a part of them, and lines that nobody saw', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = await written(repository)
    repository.write('list.txt', 'old one\nfrom s-1\nold two\nold three\nunseen\n')
    repository.commit('a part')
    expect(wordsOf(await snapshots.explain(repository.root, 'HEAD'))).toEqual({ 'list.txt': 's-1 now' })
  })

  it('when it was amended, squashed, rebased or renamed since, and the old commits were pruned', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = await written(repository)
    repository.commit('first')
    repository.git('commit', '-q', '--amend', '-m', 'amended')
    expect(wordsOf(await snapshots.explain(repository.root, 'HEAD'))).toEqual(WRITTEN)
    await turn(snapshots, repository.root, 's-3', () => repository.write('new.txt', 'new of s-3\n'))
    repository.commit('second')
    repository.git('reset', '-q', '--soft', 'HEAD~2')
    repository.commit('squashed')
    const both = { ...WRITTEN, 'new.txt': 's-3' }
    expect(wordsOf(await snapshots.explain(repository.root, 'HEAD'))).toEqual(both)
    repository.git('checkout', '-q', '-b', 'other', 'HEAD~1')
    repository.write('b.txt', 'moved on\n')
    repository.commit('moved on')
    repository.git('checkout', '-q', 'main')
    repository.git('rebase', '-q', 'other')
    repository.git('reflog', 'expire', '--expire=now', '--all')
    repository.git('gc', '-q', '--prune=now')
    expect(wordsOf(await snapshots.explain(repository.root, 'main'))).toEqual(both)
    renameSync(repository.path('new.txt'), repository.path('renamed.txt'))
    repository.commit('renamed by hand')
    expect(wordsOf(await snapshots.explain(repository.root, 'HEAD'))).toEqual({ 'renamed.txt': '=now' })
    repository.git('reset', '-q', '--soft', 'HEAD~2')
    repository.commit('squashed with the rename')
    expect(wordsOf(await snapshots.explain(repository.root, 'HEAD'))).toEqual({ ...WRITTEN, 'renamed.txt': 's-3' })
  })

  it('when the agent itself committed, and names no turn that came later', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    await turn(snapshots, repository.root, 's-1', () => {
      repository.write('one.txt', 'one\ntwo\n')
      repository.commit('by s-1')
    })
    await turn(snapshots, repository.root, 's-2', () => repository.write('one.txt', 'one\ntwo\nthree\n'))
    await turn(snapshots, repository.root, 's-3', () => {
      repository.write('one.txt', 'one\nthree\n')
      repository.commit('by s-3')
    })
    expect(wordsOf(await snapshots.explain(repository.root, 'HEAD~1'))).toEqual({ 'one.txt': 's-1 s-1' })
    expect(wordsOf(await snapshots.explain(repository.root, 'HEAD'))).toEqual({ 'one.txt': 's-2 -s-3' })
  })

  it('when it was cherry-picked by a person, by another agent, or from somebody without turns', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    repository.git('checkout', '-q', '-b', 'feature')
    await turn(snapshots, repository.root, 's-1', () => {
      repository.write('one.txt', 'from s-1\n')
      repository.commit('by s-1')
    })
    repository.git('checkout', '-q', '-b', 'bob', 'main')
    repository.write('bob.txt', 'from bob\n')
    repository.git('add', '-A')
    repository.git('commit', '-qm', 'by bob', '--author', 'Bob <bob@example.org>', '--date', '2020-01-01T00:00:00Z')
    repository.git('checkout', '-q', 'main')
    await turn(snapshots, repository.root, 's-2', () => {
      repository.git('cherry-pick', 'bob')
      repository.git('cherry-pick', 'feature')
      repository.write('two.txt', 'from s-2\n')
      repository.commit('by s-2')
    })
    const { root } = repository
    const picked = await snapshots.explain(root, 'HEAD~1')
    expect(wordsOf(picked)).toEqual({ 'one.txt': 's-1' })
    expect(picked.kin.map(({ commit }) => commit)).toEqual([repository.git('rev-parse', 'feature').trim()])
    const bobs = await snapshots.explain(root, 'HEAD~2')
    expect(wordsOf(bobs)).toEqual({ 'bob.txt': 'now' })
    expect(bobs.commit).toMatchObject({ author: 'Bob', committer: 'a', authored_at: '2020-01-01T00:00:00.000Z' })
    expect(wordsOf(await snapshots.explain(root, 'HEAD'))).toEqual({ 'two.txt': 's-2' })
    repository.git('checkout', '-q', '-b', 'release', 'main~3')
    repository.git('cherry-pick', 'feature')
    expect(wordsOf(await snapshots.explain(root, 'release'))).toEqual({ 'one.txt': 's-1' })
  })

  it('when it is the merge of a branch of another worktree, compared with the first parent', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    const other = join(repository.base, 'other')
    repository.git('worktree', 'add', '-q', '-b', 'feature', other)
    await turn(snapshots, other, 's-1', () => writeFileSync(join(other, 'one.txt'), 'from s-1\n'))
    repository.gitIn(other, 'add', '-A')
    repository.gitIn(other, 'commit', '-qm', 'feature')
    repository.write('b.txt', 'meanwhile\n')
    repository.commit('meanwhile')
    repository.git('merge', '-q', '--no-edit', 'feature')
    const merge = await snapshots.explain(repository.root, 'HEAD')
    expect(merge.commit.parents).toHaveLength(2)
    expect(merge.base).toBe(merge.commit.parents[0])
    expect(wordsOf(merge)).toEqual({ 'one.txt': 's-1' })
  })

  it('whatever it does to a file: bytes, removals, modes, links, the first commit of all', async () => {
    using repository = new ScratchRepository()
    repository.git('init', '-q', '-b', 'main')
    const snapshots = repository.snapshots()
    repository.write('gone.txt', 'gone\n')
    await turn(snapshots, repository.root, 's-1', () => {
      repository.write('image.bin', Buffer.from([0, 1, 2, 3]))
      repository.write('run.sh', 'echo\n')
    })
    repository.commit('root')
    const first = await snapshots.explain(repository.root, 'HEAD')
    expect(first.base).toBeUndefined()
    expect(wordsOf(first)).toEqual({ 'gone.txt': 'before', 'image.bin': '=s-1', 'run.sh': 's-1' })
    await turn(snapshots, repository.root, 's-2', () => {
      repository.remove('gone.txt')
      repository.makeExecutable('run.sh')
      repository.link('link', 'run.sh')
    })
    repository.commit('more')
    expect(wordsOf(await snapshots.explain(repository.root, 'HEAD'))).toEqual({
      'gone.txt': '=s-2',
      link: 's-2',
      'run.sh': '',
    })
  })
})

describe('a commit that cannot be explained', () => {
  it('is refused by name: none, several, no repository, a shallow clone; options are no names', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    const { root } = repository
    for (const rev of ['nothing', '--all', 'HEAD^{tree}', 'HEAD..HEAD~1', 'a\nb', ''])
      await expect(snapshots.explain(root, rev)).rejects.toMatchObject({ code: 'bad-input' })
    const ids = new Set<string>()
    for (let n = 0; ; n += 1) {
      const id = repository.git('commit-tree', 'HEAD^{tree}', '-m', String(n)).trim().slice(0, 4)
      if (ids.has(id)) {
        await expect(snapshots.explain(root, id)).rejects.toMatchObject({ code: 'ambiguous-id' })
        break
      }
      ids.add(id)
    }
    await expect(snapshots.explain(join(root, 'gone'), 'HEAD')).rejects.toMatchObject({ code: 'bad-input' })
    await expect(snapshots.explain(repository.base, 'HEAD')).rejects.toMatchObject({ code: 'bad-input' })
    const shallow = join(repository.base, 'shallow')
    repository.gitIn(repository.base, 'clone', '-q', '--depth=1', `file://${root}`, shallow)
    await expect(snapshots.explain(shallow, 'HEAD')).rejects.toThrow('shallow')
  })

  it('says nothing of turns where none was captured', async () => {
    using repository = ScratchRepository.withCommits()
    const explained = await repository.snapshots().explain(repository.root, 'HEAD')
    expect(wordsOf(explained)).toEqual({ 'a.txt': 'now -now' })
    expect(explained.snapshots).toEqual([])
  })

  it('is explained as far as files and time allow', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = await written(repository)
    for (let n = 0; n < 5; n += 1) repository.write(`more/${n}.txt`, `${n}\n`)
    repository.commit('many')
    const few = wordsOf(await snapshots.explain(repository.root, 'HEAD', { mostFiles: 1 }))
    expect(few).toMatchObject({ ...WRITTEN, 'more/4.txt': '(count)' })
    await expect(snapshots.explain(repository.root, 'HEAD', { budgetMs: 0 })).rejects.toMatchObject({
      code: 'git-failed',
    })
  })

  it('tells that a turn is not certain where the snapshot of its beginning is gone', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = await written(repository)
    await snapshots.remove((await snapshots.list('s-2')).filter(({ moment }) => moment === 'prompt'))
    repository.commit('all of it')
    const { files } = await snapshots.explain(repository.root, 'HEAD')
    const origins = [...(files[0]?.origins.values() ?? [])]
    expect(origins.map(wordOf)).toEqual(['s-1', 's-2', 's-2'])
    expect(origins[2]).toMatchObject({ writer: { since: expect.any(String) } })
  })
})

it('commits of two agents and a person, some of them made anew: every line has its writer', {
  timeout: 300_000,
}, async () => {
  using repository = ScratchRepository.withCommits()
  const snapshots = repository.snapshots()
  const random = seededRandom()
  const base = repository.git('log', '-1', '--format=%s')
  let [lines, wrong, commits] = [0, 0, 0]
  const check = async (): Promise<void> => {
    const { files } = await snapshots.explain(repository.root, 'HEAD')
    commits += 1
    for (const { path, origins } of files)
      for (const [number, origin] of origins) {
        const text = repository.git('show', `HEAD:${path}`).split('\n')[number - 1] ?? ''
        lines += 1
        if (text.split(':')[0] !== wordOf(origin)) wrong += 1
      }
  }
  let count = 0
  const next = (): number => {
    count += 1
    return count
  }
  const content = new Map<string, string[]>()
  const change = (who: string): void => {
    const name = `file-${random(3)}.txt`
    const text = content.get(name) ?? []
    for (let n = 1 + random(3); n > 0; n -= 1)
      text.splice(random(text.length + 1), random(4) === 0 ? 1 : 0, `${who}: ${next()}`)
    content.set(name, text)
    repository.write(name, `${text.join('\n')}\n`)
  }
  for (let n = 0; n < 25; n += 1) {
    const session = random(2) === 0 ? 'agent-1' : 'agent-2'
    if (random(3) === 0 && n > 0) change('edit')
    await turn(snapshots, repository.root, session, () => {
      change(session)
      if (random(4) === 0) repository.commit(`by ${session}`)
    })
    if (random(3) === 0 && repository.status() !== '') repository.commit('by the person')
    if (random(5) === 0 && n > 5) {
      repository.git('stash', '-q', '-u', '--', '.')
      repository.git('reset', '-q', '--soft', 'HEAD~1')
      repository.commit('made anew')
      try {
        repository.git('stash', 'pop', '-q')
      } catch {
        // nothing was stashed
      }
    }
    if (repository.git('log', '-1', '--format=%s') !== base) await check()
  }
  console.info(`${commits} commits, ${lines} lines, ${wrong} with another writer`)
  expect(wrong).toBe(0)
})
