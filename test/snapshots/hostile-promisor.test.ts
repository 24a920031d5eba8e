import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ScratchRepository } from './scratch-repository.js'

const BRANCH = 'skein/session/11111111'
const MISSING = 'deadbeef'.repeat(5)

/** A repository that says that a missing object comes from a remote, and names the program that brings it. */
function promise(repository: ScratchRepository, url: (program: string) => string): string {
  const ran = join(repository.base, 'ran')
  const program = join(repository.base, 'trap')
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> ${ran}\nexit 1\n`)
  chmodSync(program, 0o755)
  for (const [name, value] of [
    ['core.repositoryFormatVersion', '1'],
    ['extensions.partialClone', 'evil'],
    ['remote.evil.promisor', 'true'],
    ['remote.evil.url', url(program)],
    ['remote.evil.uploadpack', program],
    ['protocol.allow', 'always'],
    ['protocol.ext.allow', 'always'],
    ['core.sshCommand', program],
  ] as const)
    repository.git('config', name, value)
  return ran
}

it.each([
  ['a program', (program: string) => `ext::${program}`],
  ['a repository of this machine', () => '/nowhere.git'],
  ['a host', () => 'ssh://example.invalid/x.git'],
])(
  'an object that is missing is fetched from nowhere, whatever the repository names: %s',
  { timeout: 120_000 },
  async (_, url) => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    const of = { directory: repository.root, session: 's', moment: 'stop' as const }
    const first = await snapshots.capture(of)
    const ran = promise(repository, url)
    // A branch and a tree whose objects are not there.
    writeFileSync(repository.path('.git/refs/heads/ghost'), `${MISSING}\n`)
    repository.write('a.txt', 'changed\n')
    const told: string[] = []
    const attempt = async (what: string, work: () => Promise<unknown>): Promise<void> => {
      await work().catch((error: Error) => told.push(`${what}: ${error.message}`))
      const trace = existsSync(ran) ? readFileSync(ran, 'utf8') : ''
      expect(trace, what).toBe('')
    }
    await attempt('capture', () => snapshots.capture(of))
    await attempt('blame', () => snapshots.blame(repository.path('a.txt')))
    await attempt('make branch', () => snapshots.makeBranch(repository.root, BRANCH))
    await attempt('commit', async () =>
      snapshots.commitTurn({ snapshot: await snapshots.capture(of), branch: BRANCH, message: 'Turn 1' }),
    )
    await attempt('worktree', () => snapshots.makeWorktree(repository.root, 'tree'))
    repository.git('remote', 'add', 'origin', join(repository.base, 'origin.git'))
    const push = { directory: repository.root, branch: BRANCH, remote: 'origin', env: {}, limitMs: 20_000 }
    await attempt('push', () => snapshots.pushBranch(push))
    await attempt('rewind', () => snapshots.rewind(first, { preview: false }))
    await attempt('restore', () => snapshots.restore(first, { path: join(repository.base, 'restored') }))
    expect(told).toEqual([])
  },
)
