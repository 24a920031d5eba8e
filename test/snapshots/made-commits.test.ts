import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ScratchRepository } from './scratch-repository.js'

/** A turn in which the agent does something; gives the subjects of the commits that are the session's. */
async function turn(repository: ScratchRepository, act: () => void, own: readonly string[] = []): Promise<string[]> {
  const snapshots = repository.snapshots()
  const take = (moment: 'prompt' | 'stop') => snapshots.capture({ directory: repository.root, session: 's', moment })
  const before = await take('prompt')
  act()
  const made = await snapshots.commits(before, await take('stop'), (commit) => own.includes(commit))
  return made.map((commit) => repository.git('log', '-1', '--format=%s', commit).trim())
}

/** Whoever else works on the repository, some time ago. */
function somebody(repository: ScratchRepository, subject: string): void {
  const env = {
    PATH: process.env.PATH,
    HOME: repository.home,
    GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
    GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
  }
  const who = ['-c', 'user.name=b', '-c', 'user.email=b@example.org']
  execFileSync('git', [...who, 'commit', '-q', '--allow-empty', '-m', subject], { cwd: repository.root, env })
}

const commit = (repository: ScratchRepository, name: string): string => {
  repository.write(`${name}.txt`, `${name}\n`)
  repository.commit(name)
  return repository.git('rev-parse', 'HEAD').trim()
}

it('what a pull brings in a turn is not what the session made', async () => {
  using repository = ScratchRepository.withCommits()
  const clone = join(repository.base, 'clone')
  repository.git('clone', '-q', repository.root, clone)
  repository.git('remote', 'add', 'origin', clone)
  repository.gitIn(clone, 'commit', '-q', '--allow-empty', '-m', 'made elsewhere in this very moment')
  expect(await turn(repository, () => void repository.git('pull', '-q', '--ff-only', 'origin', 'main'))).toEqual([])
  repository.gitIn(clone, 'commit', '-q', '--allow-empty', '-m', 'elsewhere again')
  const merging = () => {
    commit(repository, 'own')
    repository.git('pull', '-q', '--no-rebase', '--no-edit', 'origin', 'main')
  }
  const made = await turn(repository, merging)
  expect(made.filter((subject) => !subject.startsWith('Merge'))).toEqual(['own'])
})

it('a rebase makes the session\u2019s own commits anew, and takes none of others', async () => {
  using repository = ScratchRepository.withCommits()
  repository.git('checkout', '-q', '-b', 'topic')
  commit(repository, 'of a person')
  const own = commit(repository, 'of the session')
  repository.git('checkout', '-q', 'main')
  somebody(repository, 'upstream')
  repository.git('checkout', '-q', 'topic')
  const rebase = () => void repository.git('rebase', '-q', 'main')
  expect(await turn(repository, rebase, [own])).toEqual(['of the session'])
  somebody(repository, 'on top')
  const both = () => {
    commit(repository, 'just now')
    repository.git('rebase', '-q', '--onto', 'main', 'HEAD~2')
  }
  expect(await turn(repository, both)).toEqual(['just now'])
})

it('commits on a branch that was made in the turn are the session\u2019s, and those of a branch that it moved to are not', async () => {
  using repository = ScratchRepository.withCommits()
  repository.git('branch', 'other')
  const branching = () => {
    repository.git('checkout', '-q', '-b', 'new')
    commit(repository, 'on a new branch')
  }
  expect(await turn(repository, branching)).toEqual(['on a new branch'])
  expect(await turn(repository, () => void repository.git('checkout', '-q', 'other'))).toEqual([])
  expect(await turn(repository, () => void repository.git('checkout', '-q', 'new'))).toEqual([])
  expect(await turn(repository, () => void repository.git('reset', '-q', '--hard', 'HEAD~1'))).toEqual([])
  const amending = () => {
    commit(repository, 'first try')
    repository.git('commit', '-q', '--amend', '-m', 'amended')
  }
  expect(await turn(repository, amending)).toEqual(['amended'])
})

it('where git keeps no log of HEAD, the time of a commit decides', async () => {
  using repository = ScratchRepository.withCommits()
  repository.git('config', 'core.logAllRefUpdates', 'false')
  rmSync(join(repository.root, '.git/logs'), { recursive: true })
  const both = () => {
    somebody(repository, 'long ago')
    commit(repository, 'now')
  }
  expect(await turn(repository, both)).toEqual(['now'])
})
