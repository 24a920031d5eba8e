import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { filesOf, ScratchRepository } from './scratch-repository.js'

const WORKER = new URL('../workers/snapshot-often.mjs', import.meta.url).pathname
const of = (repository: ScratchRepository) => ({ directory: repository.root, session: 's-1', moment: 'stop' as const })

/** Everything in a directory that a program could change, except when object files were last used. */
function fingerprint(directory: string): string {
  const parts: string[] = []
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = join(directory, name)
    const stat = lstatSync(path)
    const time = name.startsWith('objects') ? '' : stat.mtimeMs
    const content = stat.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : ''
    parts.push(`${name} ${stat.mode} ${stat.size} ${time} ${content}`)
  }
  return parts.join('\n')
}

/** The paths of a snapshot's files. */
async function pathsOf(repository: ScratchRepository, tree: string): Promise<string[]> {
  const [store = ''] = readdirSync(repository.stores)
  return repository.gitIn(join(repository.stores, store), 'ls-tree', '-r', '--name-only', tree).trim().split('\n')
}

describe('a capture', () => {
  it('writes nothing into the repository of the user and runs nothing that it names', async () => {
    using repository = ScratchRepository.withCommits()
    const trap = join(repository.base, 'trap')
    const ran = join(repository.base, 'ran')
    writeFileSync(trap, `#!/bin/sh\necho "$0 $*" >> ${ran}\ncat\n`, { mode: 0o755 })
    mkdirSync(join(repository.base, 'hooks'))
    for (const hook of [
      'post-index-change',
      'reference-transaction',
      'post-checkout',
      'pre-commit',
      'fsmonitor-watchman',
    ])
      writeFileSync(join(repository.base, 'hooks', hook), readFileSync(trap), { mode: 0o755 })
    const config = join(repository.base, 'included')
    const settings = `[core]\n\tfsmonitor = ${trap}\n\thooksPath = ${repository.base}/hooks\n\tautocrlf = true\n[filter "t"]\n\tclean = ${trap}\n\tsmudge = ${trap}\n\tprocess = ${trap}\n\trequired = true\n[diff "t"]\n\ttextconv = ${trap}\n\tcommand = ${trap}\n[diff]\n\texternal = ${trap}\n[commit]\n\tgpgsign = true\n[gpg]\n\tprogram = ${trap}\n`
    writeFileSync(config, settings)
    const own = readFileSync(repository.path('.git/config'), 'utf8')
    repository.write('.gitattributes', '* filter=t diff=t\n')
    repository.write('new.txt', 'new\r\n')
    repository.write('a.txt', 'changed\r\n')
    writeFileSync(repository.path('.git/config'), `${own}[includeIf "gitdir:**"]\n\tpath = ${config}\n`)
    for (const hook of readdirSync(join(repository.base, 'hooks')))
      writeFileSync(repository.path(`.git/hooks/${hook}`), readFileSync(trap), { mode: 0o755 })
    const before = [fingerprint(repository.path('.git')), filesOf(repository.root)]
    const snapshots = repository.snapshots()
    const first = await snapshots.capture(of(repository))
    repository.write('b.txt', 'changed\r\n')
    await snapshots.capture(of(repository))
    repository.write('b.txt', 'b.txt\n')
    expect(existsSync(ran)).toBe(false)
    expect([fingerprint(repository.path('.git')), filesOf(repository.root)]).toEqual(before)
    writeFileSync(repository.path('.git/config'), own)
    const path = join(repository.base, 'restored')
    await snapshots.restore(first, { path })
    expect(filesOf(path)).toEqual(before[1])
    expect(existsSync(ran)).toBe(false)
  })

  it('takes no notice of the variables of whoever calls it', async () => {
    using repository = ScratchRepository.withCommits()
    const old = { ...process.env }
    Object.assign(process.env, {
      GIT_DIR: '/nowhere',
      GIT_INDEX_FILE: '/nowhere',
      GIT_WORK_TREE: '/',
      GIT_CONFIG_COUNT: '1',
    })
    try {
      const { mode } = await repository.snapshots().capture(of(repository))
      expect(mode).toBe('whole')
    } finally {
      for (const name of ['GIT_DIR', 'GIT_INDEX_FILE', 'GIT_WORK_TREE', 'GIT_CONFIG_COUNT'])
        if (old[name] === undefined) delete process.env[name]
        else process.env[name] = old[name]
    }
  })

  it('records where HEAD was, and what reproduces the start of the turn', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    const start = { tool: 'claude', tool_version: '2.1', model: 'm', permission_mode: 'plan', settings_hash: 'h' }
    const taken = await snapshots.capture({ ...of(repository), turn: 3, start })
    const head = repository.git('rev-parse', 'HEAD').trim()
    expect(taken).toMatchObject({ head, branch: 'main', turn: 3, seq: 1, moment: 'stop', start })
    expect(await snapshots.list('s-1')).toEqual([taken])
    repository.git('pack-refs', '--all')
    const next = await snapshots.capture(of(repository))
    expect(next).toMatchObject({ head, branch: 'main', seq: 2, worktree_tree: taken.worktree_tree })
    expect((await snapshots.list()).map(({ seq }) => seq)).toEqual([1, 2])
    await expect(snapshots.find('s-1', 9)).rejects.toThrow('no snapshot 9')
  })

  it('keeps secrets out, also when an agent empties the ignore file, and lists them', async () => {
    using repository = ScratchRepository.withCommits()
    repository.write('sub/.gitignore', '/private\nkept-out*\n!kept-out-not\n')
    const snapshots = repository.snapshots()
    await snapshots.capture(of(repository))
    repository.write('.gitignore', '')
    repository.write('sub/.gitignore', '')
    for (const name of ['.env', 'deep/id_ed25519', 'tls.key', 'x.log', 'ignored/x', 'sub/private', 'sub/a/kept-out-1'])
      repository.write(name, 'a secret')
    for (const name of ['.env.example', 'private', 'sub/kept-out-not', 'monkey.txt']) repository.write(name, 'none')
    const { worktree_tree, skipped, mode } = await snapshots.capture(of(repository))
    const paths = await pathsOf(repository, worktree_tree)
    expect(paths.filter((path) => /env|id_|key|log|ignored|private|kept/.test(path))).toEqual([
      '.env.example',
      'monkey.txt',
      'private',
      'sub/kept-out-not',
    ])
    expect(skipped.map(({ path, reason }) => `${reason} ${path}`).sort()).toEqual([
      'secret .env',
      'secret deep/id_ed25519',
      'secret tls.key',
    ])
    expect(mode).toBe('whole')
  })

  it('skips files above the limit and lists them, but not those that the repository has', async () => {
    using repository = ScratchRepository.withCommits()
    repository.write('tracked.bin', 'x'.repeat(5_000))
    repository.commit('large and tracked')
    repository.write('large.bin', 'x'.repeat(5_000))
    const snapshots = repository.snapshots({ mostFileBytes: 4_000 })
    const { worktree_tree, skipped } = await snapshots.capture(of(repository))
    const paths = await pathsOf(repository, worktree_tree)
    expect(skipped).toEqual([{ path: 'large.bin', reason: 'size', bytes: 5_000 }])
    expect([paths.includes('tracked.bin'), paths.includes('large.bin')]).toEqual([true, false])
  })

  it('takes no more than the limit of a repository in which somebody forgot to ignore something', async () => {
    using repository = ScratchRepository.withCommits()
    repository.write('a.txt', 'x'.repeat(900))
    for (let n = 0; n < 20; n += 1) repository.write(`many/${n}`, 'x'.repeat(n))
    const many = await repository.snapshots({ mostFiles: 15 }).capture(of(repository))
    expect([many.mode, many.skipped.length, many.skipped[0]?.reason]).toEqual(['partial', 6, 'limit'])
    const large = await repository.snapshots({ mostBytes: 300 }).capture(of(repository))
    expect([large.mode, large.skipped]).toEqual(['partial', [{ path: 'a.txt', reason: 'limit', bytes: 900 }]])
    const whole = await repository.snapshots().capture(of(repository))
    expect([whole.mode, (await pathsOf(repository, whole.worktree_tree)).length]).toEqual(['whole', 26])
    await expect(repository.snapshots().capture({ ...of(repository), directory: '/no/such' })).rejects.toThrow(
      'no directory',
    )
  })

  it('says that it is partial when the time is up, and is whole the next time', async () => {
    using repository = ScratchRepository.withCommits()
    repository.write('new.txt', 'new\n')
    const early = await repository.slowSnapshots({ budgetMs: 50 }).capture(of(repository))
    expect(early.mode).toBe('partial')
    const { mode, worktree_tree } = await repository.snapshots().capture(of(repository))
    expect([mode, (await pathsOf(repository, worktree_tree)).includes('new.txt')]).toEqual(['whole', true])
  })

  it('says which files changed after the moment that it is meant to show', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    await snapshots.capture(of(repository))
    repository.write('a.txt', 'in time\n')
    await sleep(30)
    const asOfMs = Date.now()
    await sleep(30)
    repository.write('b.txt', 'too late\n')
    repository.remove('src/c.txt')
    const late = await snapshots.capture({ ...of(repository), asOfMs })
    expect([late.exact, late.late.sort()]).toEqual([false, ['b.txt', 'src/c.txt']])
    await sleep(30)
    const next = await snapshots.capture(of(repository))
    expect([next.exact, next.late]).toEqual([true, []])
  })

  it('skips a file that cannot be read, and captures the others', async () => {
    using repository = ScratchRepository.withCommits()
    for (let n = 0; n < 9; n += 1) repository.write(`file-${n}`, `${n}`)
    chmodSync(repository.path('file-4'), 0)
    const isRoot = process.getuid?.() === 0
    const { mode, skipped, worktree_tree } = await repository.snapshots().capture(of(repository))
    const paths = (await pathsOf(repository, worktree_tree)).filter((path) => path.startsWith('file-'))
    if (isRoot)
      expect([mode, paths.length]).toEqual(['whole', 9]) // root reads everything
    else expect([mode, skipped[0]?.path, paths.length]).toEqual(['partial', 'file-4', 8])
  })

  it('is refused for the root of the system, a home directory and what is above one', async () => {
    using repository = new ScratchRepository()
    const snapshots = repository.snapshots()
    for (const directory of ['/', repository.home, repository.base])
      await expect(snapshots.capture({ ...of(repository), directory })).rejects.toThrow('is not captured')
    await expect(repository.snapshots({ mostFiles: 1 }).capture(of(repository))).resolves.toMatchObject({
      mode: 'whole',
    })
    for (const name of ['a', 'b']) repository.write(name, name)
    await expect(repository.snapshots({ mostFiles: 1 }).capture(of(repository))).rejects.toThrow('more than 1 files')
    expect(existsSync(join(repository.home, '.git'))).toBe(false)
  })

  it('takes of a repository that is a whole home only what it tracks', async () => {
    using repository = ScratchRepository.withCommits()
    repository.write('other/untracked', 'of the home, not of the repository\n')
    repository.write('a.txt', 'tracked and changed\n')
    const home = repository.path('other')
    const snapshots = repository.snapshotsFor(home)
    const { mode, worktree_tree } = await snapshots.capture(of(repository))
    const paths = await pathsOf(repository, worktree_tree)
    expect([mode, paths.includes('a.txt'), paths.includes('other/untracked')]).toEqual(['partial', true, false])
  })

  it('fails with the reason on a full disk, and is whole again when there is space', () => {
    using repository = ScratchRepository.withCommits()
    const disk = join(repository.base, 'small')
    mkdirSync(disk)
    const run = `"${process.execPath}" "${WORKER}" "${disk}/stores" "${repository.home}" "${repository.root}" s 1`
    const script = `mount -t tmpfs -o size=3m none "${disk}" && ${run} && head -c 5000000 /dev/urandom > "${repository.root}/new" && { ${run} 2>&1; echo "status $?"; mount -o remount,size=40m "${disk}"; ${run}; git -C "${disk}"/stores/*.git fsck --full; echo "fsck $?"; }`
    const output = execFileSync('unshare', ['--mount', '--map-root-user', 'sh', '-c', script], { encoding: 'utf8' })
    expect(output).toMatch(/^1 whole\n/)
    expect(output).toMatch(/no space left|No space left|disk-full/i)
    expect(output).toMatch(/status 1\n(?:.*\n)*2 whole\n(?:.*\n)*fsck 0\n$/)
  })

  it('misses no edit, whatever its time and size', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    let missed = 0
    const time = new Date(Date.now() - 1_000)
    for (let n = 0; n < 40; n += 1) {
      // The same size, the same time of change, and no pause: only the content tells.
      const content = `edit ${String(n).padStart(4, '0')}\n`
      repository.write('a.txt', content)
      utimesSync(repository.path('a.txt'), time, time)
      const { worktree_tree } = await snapshots.capture(of(repository))
      const [store = ''] = readdirSync(repository.stores)
      if (repository.gitIn(join(repository.stores, store), 'cat-file', 'blob', `${worktree_tree}:a.txt`) !== content)
        missed += 1
    }
    expect(missed).toBe(0)
  })

  it('misses no edit that came between the user’s own index and the first capture', { timeout: 60_000 }, async () => {
    let missed = 0
    for (let n = 0; n < 10; n += 1) {
      using repository = ScratchRepository.withCommits()
      const time = new Date(n % 2 === 0 ? Date.now() : Date.now() - 5_000)
      repository.write('a.txt', 'before\n')
      utimesSync(repository.path('a.txt'), time, time)
      repository.git('add', 'a.txt')
      repository.write('a.txt', 'behind\n')
      utimesSync(repository.path('a.txt'), time, time)
      const { worktree_tree } = await repository.snapshots().capture(of(repository))
      const [store = ''] = readdirSync(repository.stores)
      if (repository.gitIn(join(repository.stores, store), 'cat-file', 'blob', `${worktree_tree}:a.txt`) !== 'behind\n')
        missed += 1
    }
    expect(missed).toBe(0)
  })
})

describe('captures beside others', () => {
  it('make no git command of an agent fail', { timeout: 400_000 }, async () => {
    using repository = ScratchRepository.withCommits()
    const workers = ['one', 'two'].map((session) =>
      spawn(process.execPath, [WORKER, repository.stores, repository.home, repository.root, session, '100000'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      }),
    )
    let taken = 0
    for (const { stdout } of workers)
      stdout.on('data', (bytes: Buffer) => (taken += bytes.toString().split('\n').length - 1))
    const failures: string[] = []
    let commands = 0
    const run = (...args: string[]): void => {
      commands += 1
      try {
        repository.git(...args)
      } catch (error) {
        failures.push(`${args.join(' ')}: ${String(error)}`)
      }
    }
    while (commands < 1_000) {
      repository.write('a.txt', `${commands}\n`)
      run('add', '-A')
      run('commit', '-q', '-m', `${commands}`)
      run('status')
      run('checkout', '-q', '-B', 'other')
      run('checkout', '-q', 'main')
      await sleep(0)
    }
    for (const worker of workers) worker.kill('SIGKILL')
    await Promise.all(workers.map((worker) => new Promise((resolve) => worker.once('close', resolve))))
    expect([commands, failures]).toEqual([1_000, []])
    expect(taken).toBeGreaterThan(20)
    const snapshots = repository.snapshots()
    const last = await snapshots.capture(of(repository))
    expect(last.mode).toBe('whole')
    expect((await snapshots.list('one')).length + (await snapshots.list('two')).length).toBeGreaterThanOrEqual(taken)
  })

  it('survive being killed at any moment', { timeout: 120_000 }, async () => {
    using repository = ScratchRepository.withCommits()
    for (let n = 0; n < 400; n += 1) repository.write(`many/${n}`, `${n}\n`)
    const snapshots = repository.snapshots()
    for (let round = 0; round < 25; round += 1) {
      for (let n = 0; n < 40; n += 1) repository.write(`many/${n}`, `${round} ${n}\n`)
      const args = [WORKER, repository.stores, repository.home, repository.root, 's-1', '1']
      const worker = spawn(process.execPath, args, { stdio: 'ignore' })
      const isClosed = new Promise((resolve) => worker.once('close', resolve)) // it may be done before it is killed
      await sleep(40 + round * 12)
      worker.kill('SIGKILL')
      await isClosed
      if (round % 5 !== 4) continue
      const snapshot = await snapshots.capture(of(repository))
      expect(snapshot.mode).toBe('whole')
      const path = join(repository.base, `restored-${round}`)
      await snapshots.restore(snapshot, { path })
      expect(filesOf(path)).toEqual(filesOf(repository.root))
    }
    const [store = ''] = readdirSync(repository.stores)
    execFileSync('git', ['fsck', '--full', '--strict'], { cwd: join(repository.stores, store), stdio: 'pipe' })
  })

  it('go on beside what a killed process left', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    await snapshots.capture(of(repository))
    const [store = ''] = readdirSync(repository.stores)
    const directory = join(repository.stores, store, 'skein', 'worktrees')
    for (const name of readdirSync(directory).filter((one) => one.endsWith('.index')))
      for (const left of ['.lock', '.tmp-1', '.tmp-1.lock']) writeFileSync(join(directory, `${name}${left}`), '')
    repository.write('a.txt', 'changed\n')
    const { worktree_tree, mode } = await snapshots.capture(of(repository))
    const blob = repository.gitIn(join(repository.stores, store), 'cat-file', 'blob', `${worktree_tree}:a.txt`)
    expect([mode, blob]).toEqual(['whole', 'changed\n'])
  })
})
