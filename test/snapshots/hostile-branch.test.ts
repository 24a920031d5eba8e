import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ScratchRepository } from './scratch-repository.js'

const BRANCH = 'skein/session/11111111'
let repository: ScratchRepository
beforeEach(() => {
  repository = ScratchRepository.withCommits()
})
afterEach(() => repository[Symbol.dispose]())

const git = (...args: string[]): string => repository.git(...args).trim()
const commit = async (message = 'Turn 1') => {
  const snapshots = repository.snapshots()
  const snapshot = await snapshots.capture({ directory: repository.root, session: 's', moment: 'stop' })
  return snapshots.commitTurn({ snapshot, branch: BRANCH, message })
}
const push = (remote = 'origin') =>
  repository.snapshots().pushBranch({
    directory: repository.root,
    branch: BRANCH,
    remote,
    env: { HOME: repository.home, PATH: process.env.PATH },
    limitMs: 20_000,
  })

describe('the branch of the turns', () => {
  it.each([
    ['a symbolic ref', () => git('symbolic-ref', `refs/heads/${BRANCH}`, 'refs/heads/main')],
    [
      'a symbolic ref of a symbolic ref',
      () => {
        git('symbolic-ref', 'refs/heads/between', 'refs/heads/main')
        git('symbolic-ref', `refs/heads/${BRANCH}`, 'refs/heads/between')
      },
    ],
    [
      'a link to the file of another branch',
      () => {
        mkdirSync(dirname(repository.path(`.git/refs/heads/${BRANCH}`)), { recursive: true })
        symlinkSync('../../main', repository.path(`.git/refs/heads/${BRANCH}`))
      },
    ],
    [
      'a link that git reads as a symbolic ref',
      () => {
        mkdirSync(dirname(repository.path(`.git/refs/heads/${BRANCH}`)), { recursive: true })
        symlinkSync('refs/heads/main', repository.path(`.git/refs/heads/${BRANCH}`))
      },
    ],
  ])('never moves a branch of the user, even where it is %s', async (_, disguise) => {
    repository.write('a.txt', 'changed\n')
    disguise()
    const before = git('rev-parse', 'main')
    const status = repository.status()
    await commit().catch(() => undefined)
    expect(git('rev-parse', 'main')).toBe(before)
    expect(repository.status()).toBe(status)
  })
})

const PIPES = [
  '.git/config',
  '.git/config.worktree',
  '.git/HEAD',
  '.git/index',
  '.git/packed-refs',
  '.git/refs/heads/main',
  '.git/refs/heads/ghost',
  `.git/refs/heads/${BRANCH}`,
  '.git/logs/HEAD',
  `.git/logs/refs/heads/${BRANCH}`,
  '.git/objects/info/alternates',
  '.git/objects/pack/pack-0.idx',
  '.git/shallow',
  '.git/info/attributes',
  '.git/info/sparse-checkout',
  '.git/MERGE_HEAD',
  '.git/rebase-merge/head-name',
  '.git/worktrees/ghost/HEAD',
  '.git/worktrees/ghost/gitdir',
  '.gitattributes',
  '.gitmodules',
  'home/.gitconfig',
]

describe('a pipe that nobody writes to', () => {
  it.each(PIPES)('in place of %s keeps no commit, worktree or push waiting', { timeout: 120_000 }, async (name) => {
    const bare = join(repository.base, 'remote.git')
    execFileSync('git', ['init', '-q', '--bare', bare])
    git('remote', 'add', 'origin', bare)
    const snapshots = repository.snapshots({ budgetMs: 1_000 })
    const snapshot = await snapshots.capture({ directory: repository.root, session: 's', moment: 'stop' })
    const path = name.startsWith('home/') ? join(repository.base, name) : repository.path(name)
    mkdirSync(dirname(path), { recursive: true })
    rmSync(path, { force: true })
    execFileSync('mkfifo', [path])
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
      await settled('branch', snapshots.makeBranch(repository.root, BRANCH)),
      await settled('commit', snapshots.commitTurn({ snapshot, branch: BRANCH, message: 'Turn 1' })),
      await settled('push', push()),
      await settled('worktree', snapshots.makeWorktree(repository.root, 'mine')),
      await settled('remove', snapshots.removeBranch(repository.root, { branch: BRANCH, head: snapshot.head ?? '' })),
    ]
    expect(did.filter((one) => one.endsWith('still waiting'))).toEqual([])
  })
})

it('a push runs nothing that a remote, an included file or a name in the configuration brings', async () => {
  const bare = join(repository.base, 'remote.git')
  execFileSync('git', ['init', '-q', '--bare', bare])
  await commit()
  const [trap, ran] = [join(repository.base, 'trap.sh'), join(repository.base, 'ran')]
  writeFileSync(trap, `#!/bin/sh\necho "$0 $*" >> ${ran}\nexit 1\n`, { mode: 0o755 })
  const before = readFileSync(repository.path('.git/config'), 'utf8')
  const section = (lines: string): void => writeFileSync(repository.path('.git/config'), `${before}\n${lines}\n`)
  const included = join(repository.base, 'included')
  writeFileSync(included, `[remote "origin"]\n\turl = ${bare}\n\treceivepack = ${trap}\n`)
  const cases: Record<string, string> = {
    'a remote named like an option': `[remote "--receive-pack=${trap}"]\n\turl = ${bare}`,
    'a receiver by an included file': `[include]\n\tpath = ${included}`,
    'a receiver in odd capitals': `[REMOTE "origin"]\n\tURL = ${bare}\n\tReceivePack = ${trap}`,
    'an address that is rewritten': `[remote "origin"]\n\turl = safe:x\n[url "ext::${trap} "]\n\tinsteadOf = safe:`,
    'an address to push that is rewritten': `[remote "origin"]\n\turl = ${bare}\n[url "ext::${trap} "]\n\tpushInsteadOf = ${bare}`,
    'a helper by its name': `[remote "origin"]\n\turl = evil::${bare}`,
    'a proxy of ssh in the address': `[remote "origin"]\n\turl = ssh://-oProxyCommand=${trap}/x`,
    'a proxy of ssh in a short address': `[remote "origin"]\n\turl = -oProxyCommand=${trap}:x`,
    'a user that is an option': `[remote "origin"]\n\turl = ssh://-oProxyCommand=${trap}@localhost:9/x`,
    'a credential helper': `[remote "origin"]\n\turl = http://127.0.0.1:9/x.git\n[credential]\n\thelper = "!${trap}"\n[core]\n\taskPass = ${trap}`,
    'a proxy': `[remote "origin"]\n\turl = git://127.0.0.1:9/x\n[core]\n\tgitProxy = ${trap}`,
    'an address with a line break': `[remote "origin"]\n\turl = "${bare}\\n[core]\\n\\tsshCommand = ${trap}"`,
    'a quotation mark and a backslash': `[remote "origin"]\n\turl = "a:b\\"\\\\\\n[core]sshCommand=${trap}"`,
    'two addresses': `[remote "origin"]\n\turl = ext::${trap}\n\turl = ${bare}\n\tpushurl = ext::${trap}`,
    'a bundle that is a command': `[remote "origin"]\n\turl = "ext::sh -c ${trap}"\n[protocol]\n\tallow = always`,
  }
  const outcomes: Record<string, string> = {}
  for (const [what, lines] of Object.entries(cases)) {
    section(lines)
    const end = await push(what.startsWith('a remote named') ? `--receive-pack=${trap}` : 'origin')
    outcomes[what] = end.outcome
    expect(existsSync(ran) ? readFileSync(ran, 'utf8') : '', what).toBe('')
  }
  expect(outcomes).toMatchObject({
    'a remote named like an option': 'pushed',
    'a receiver by an included file': 'refused',
    'an address to push that is rewritten': 'pushed',
    'a helper by its name': 'refused',
    'a user that is an option': 'failed',
    'two addresses': 'refused',
  })
}, 180_000)
