import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ScratchRepository } from './scratch-repository.js'

const of = (repository: ScratchRepository) => ({ directory: repository.root, session: 's-1', moment: 'stop' as const })

/** Every program that a repository's own files can name. */
function arm(repository: ScratchRepository): { ran: string } {
  const ran = join(repository.base, 'ran')
  const trap = join(repository.base, 'trap')
  writeFileSync(trap, `#!/bin/sh\necho "$0 $*" >> ${ran}\ncat\n`)
  chmodSync(trap, 0o755)
  for (const name of [
    'core.fsmonitor',
    'core.pager',
    'core.editor',
    'core.sshCommand',
    'core.askPass',
    'diff.external',
  ])
    repository.git('config', name, trap)
  for (const name of ['core.alternateRefsCommand', 'core.gitProxy', 'credential.helper', 'gpg.program', 'pager.diff'])
    repository.git('config', name, trap)
  for (const name of ['clean', 'smudge', 'process']) repository.git('config', `filter.evil.${name}`, trap)
  for (const name of ['command', 'textconv']) repository.git('config', `diff.evil.${name}`, trap)
  repository.git('config', 'merge.evil.driver', trap)
  for (const name of ['status', 'diff', 'cat-file', 'read-tree', 'blame', 'log', 'rev-parse', 'diff-tree'])
    repository.git('config', `alias.${name}`, `!${trap}`)
  repository.git('config', 'commit.gpgSign', 'true')
  repository.git('config', 'log.showSignature', 'true')
  repository.git('config', 'extensions.worktreeConfig', 'true')
  const hooks = join(repository.root, '.git', 'hooks')
  mkdirSync(hooks, { recursive: true })
  for (const name of [
    'post-checkout',
    'post-index-change',
    'reference-transaction',
    'pre-auto-gc',
    'post-rewrite',
    'fsmonitor-watchman',
  ]) {
    writeFileSync(join(hooks, name), `#!/bin/sh\necho ${name} >> ${ran}\n`)
    chmodSync(join(hooks, name), 0o755)
  }
  const included = join(repository.base, 'included')
  writeFileSync(included, `[core]\n\thooksPath = ${hooks}\n\tfsmonitor = ${trap}\n`)
  repository.git('config', 'include.path', included)
  writeFileSync(join(repository.root, '.git', 'info', 'attributes'), '* filter=evil diff=evil merge=evil\n')
  rmSync(ran, { force: true })
  return { ran }
}

it('nothing that a repository names is run by a snapshot, a restore, a rewind, a comparison, a blame or an explanation', {
  timeout: 120_000,
}, async () => {
  using repository = ScratchRepository.withCommits()
  repository.write('.gitattributes', '*.txt filter=evil diff=evil merge=evil text eol=crlf\n')
  repository.commit('attributes')
  const snapshots = repository.snapshots()
  const { ran } = arm(repository)
  const first = await snapshots.capture(of(repository))
  repository.write('a.txt', 'changed\n')
  repository.write('src/c.txt', 'changed, too\n')
  repository.write('new.txt', 'new\n')
  const second = await snapshots.capture(of(repository))
  await snapshots.patch(first, second)
  await snapshots.changes(first, second)
  await snapshots.blame(repository.path('a.txt'))
  await snapshots.explain(repository.root, 'HEAD')
  const { safety } = await snapshots.rewind(first, { preview: false })
  await snapshots.rewind(safety, { preview: false })
  await snapshots.restore(first, { path: join(repository.base, 'restored'), branch: 'restored' })
  {
    using scratch = await snapshots.scratch(first)
    await scratch.show(second)
  }
  await snapshots.verify({ full: true })
  await snapshots.collect({ onlyDue: false })
  expect(existsSync(ran)).toBe(false)
})

const PIPES = [
  '.git/config',
  'included',
  '.git/info/exclude',
  '.git/info/attributes',
  '.git/index',
  '.git/packed-refs',
  '.git/refs/heads/main',
  '.git/commondir',
  '.git/objects/info/alternates',
  '.git/shallow',
  '.git/MERGE_HEAD',
  '.git/info/sparse-checkout',
  '.git/info/grafts',
  '.gitignore',
  '.gitattributes',
  '.gitmodules',
  'src/.gitignore',
  'home/.gitconfig',
  'home/.config/git/ignore',
]

describe('a pipe that nobody writes to', () => {
  it.each(PIPES)('in place of %s keeps nobody waiting', { timeout: 60_000 }, async (name) => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots({ budgetMs: 1_000 })
    const first = await snapshots.capture(of(repository))
    const path = name.startsWith('home/') ? join(repository.base, name) : repository.path(name)
    mkdirSync(dirname(path), { recursive: true })
    if (existsSync(path)) renameSync(path, `${path}.before`)
    execFileSync('mkfifo', [path])
    if (name === 'included')
      writeFileSync(repository.path('.git/config'), `[core]\n\tbare = false\n[include]\n\tpath = ${path}\n`)
    repository.write('a.txt', 'changed\n')
    const settled = async (what: string, work: Promise<unknown>): Promise<string> => {
      const late = new Promise<string>((resolve) => setTimeout(resolve, 15_000, 'still waiting').unref())
      return `${what}: ${await Promise.race([
        work.then(
          () => 'done',
          () => 'refused',
        ),
        late,
      ])}`
    }
    const did = [
      await settled('capture', snapshots.capture(of(repository))),
      await settled('blame', snapshots.blame(repository.path('a.txt'))),
      await settled('explain', snapshots.explain(repository.root, 'HEAD')),
      await settled('rewind', snapshots.rewind(first, { preview: false })),
      await settled('restore', snapshots.restore(first, { path: join(repository.base, 'restored') })),
    ]
    expect(did.filter((one) => one.endsWith('still waiting'))).toEqual([])
  })
})

it('a configuration that includes a file of the home directory is no obstacle', async () => {
  using repository = ScratchRepository.withCommits()
  repository.git('config', 'include.path', '~/more')
  const snapshots = repository.snapshots()
  const first = await snapshots.capture(of(repository))
  repository.write('a.txt', 'changed\n')
  await snapshots.rewind(first, { preview: false })
  await snapshots.restore(first, { path: join(repository.base, 'restored') })
  expect(readFileSync(join(repository.base, 'restored', 'a.txt'), 'utf8')).toBe('a, second\n')
})
