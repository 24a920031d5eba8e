import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Git as LifecycleGit, prepareWorktree } from '../../src/lifecycle/sling/worktree.js'
import { makeBranchWorktree } from '../../src/snapshots/branch/branch-worktree.js'
import { Git } from '../../src/snapshots/git.js'
import { Snapshots } from '../../src/snapshots/snapshots.js'
import { ScratchRepository } from './scratch-repository.js'

/**
 * A PATH with a git whose first `worktree add` finds what another one has made when it has opened `commondir` and written nothing yet. The other
 * goes on when this one has ended.
 */
function halfMade(repository: ScratchRepository): string {
  const entry = repository.path('.git/worktrees/another')
  mkdirSync(entry, { recursive: true })
  writeFileSync(join(entry, 'gitdir'), `${join(repository.base, 'another', '.git')}\n`)
  writeFileSync(join(entry, 'HEAD'), 'ref: refs/heads/main\n')
  writeFileSync(join(entry, 'commondir'), '../..\n')
  const searchPath = process.env.PATH ?? ''
  const directory = join(repository.home, 'bin')
  mkdirSync(directory)
  const git = `#!/bin/sh
PATH='${searchPath}'
first() { case "$*" in *'worktree add'*) mkdir '${directory}/was-there' 2> /dev/null ;; *) false ;; esac; }
if first "$@"; then
  : > '${entry}/commondir'
  git "$@"
  code=$?
  echo ../.. > '${entry}/commondir'
  exit $code
fi
exec git "$@"
`
  writeFileSync(join(directory, 'git'), git, { mode: 0o755 })
  return `${directory}:${searchPath}`
}

describe('while another git is making a worktree of the same repository', () => {
  it('a snapshot is restored', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshot = await repository
      .snapshots()
      .capture({ directory: repository.root, session: 's-1', moment: 'stop' })
    const program = { executable: 'git', searchPath: halfMade(repository) }
    const { stores, home } = repository
    const snapshots = new Snapshots({ directory: stores, program, now: () => Date.now(), home })
    const path = join(repository.base, 'restored')
    await snapshots.restore(snapshot, { path, branch: 'restored' })
    expect(repository.gitIn(path, 'symbolic-ref', '--short', 'HEAD').trim()).toBe('restored')
    expect(repository.status(path)).toBe(repository.status())
  })

  it('a branch of an agent is checked out beside the repository', async () => {
    using repository = ScratchRepository.withCommits()
    const git = new Git({ executable: 'git', searchPath: halfMade(repository) })
    const { directory, branch } = await makeBranchWorktree(
      { snapshots: repository.stores, git, home: repository.home },
      repository.root,
      'made',
    )
    expect(repository.gitIn(directory, 'symbolic-ref', '--short', 'HEAD').trim()).toBe(branch)
    expect(repository.gitIn(directory, 'status', '--porcelain')).toBe('')
  })

  it('a worktree for a unit of work is made', async () => {
    using repository = ScratchRepository.withCommits()
    const git = new LifecycleGit({ PATH: halfMade(repository), HOME: repository.home })
    const tree = { repository: repository.root, directory: join(repository.base, 'trees', 'unit'), branch: 'unit' }
    expect(await prepareWorktree(git, tree, 0)).toMatchObject({ how: 'made' })
    expect(repository.gitIn(tree.directory, 'symbolic-ref', '--short', 'HEAD').trim()).toBe('unit')
  })
})
