import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Forgetter } from '../../src/privacy/index.js'
import type { Limits } from '../../src/snapshots/index.js'
import { Snapshots } from '../../src/snapshots/snapshots.js'

/** A repository of a user, with a home of its own and a place for snapshots outside it. */
export class ScratchRepository implements Disposable {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), 'skein-snapshots-')))
  readonly home = join(this.base, 'home')
  readonly root: string
  readonly stores = join(this.base, 'snapshots')
  now = Date.now()

  constructor(name = 'project') {
    this.root = join(this.base, name)
    mkdirSync(this.home)
    mkdirSync(this.root)
  }

  /** A repository with some files and two commits. */
  static withCommits(name?: string): ScratchRepository {
    const repository = new ScratchRepository(name)
    repository.git('init', '-q', '-b', 'main')
    for (const name of ['a.txt', 'b.txt', 'src/c.txt', 'src/deep/d.txt', 'gone.txt'])
      repository.write(name, `${name}\n`)
    repository.write('.gitignore', 'ignored/\n*.log\n')
    repository.commit('one')
    repository.write('a.txt', 'a, second\n')
    repository.commit('two')
    return repository
  }

  snapshots(limits: Partial<Limits> = {}, forgetter = new Forgetter([]), stores = this.stores): Snapshots {
    return new Snapshots({
      directory: stores,
      program: { executable: 'git', searchPath: process.env.PATH ?? '' },
      now: () => Date.now(),
      home: this.home,
      limits,
      forgetter,
    })
  }

  /** With a git that takes its time over everything. */
  slowSnapshots(limits: Partial<Limits>): Snapshots {
    const directory = join(this.home, 'slow')
    mkdirSync(directory)
    const searchPath = process.env.PATH ?? ''
    writeFileSync(join(directory, 'git'), `#!/bin/sh\nsleep 0.3\nPATH='${searchPath}' exec git "$@"\n`, { mode: 0o755 })
    const program = { executable: 'git', searchPath: `${directory}:${searchPath}` }
    return new Snapshots({ directory: this.stores, program, now: () => Date.now(), home: this.home, limits })
  }

  /** For a user with another home directory. */
  snapshotsFor(home: string): Snapshots {
    const program = { executable: 'git', searchPath: process.env.PATH ?? '' }
    return new Snapshots({ directory: this.stores, program, now: () => Date.now(), home })
  }

  git(...args: string[]): string {
    return this.gitIn(this.root, ...args)
  }

  gitIn(cwd: string, ...args: string[]): string {
    const env = { PATH: process.env.PATH, HOME: this.home, GIT_CONFIG_NOSYSTEM: '1', ...IDENTITY }
    return execFileSync('git', args, { cwd, env, encoding: 'latin1', stdio: ['ignore', 'pipe', 'pipe'] })
  }

  commit(message: string): void {
    this.git('add', '-A')
    this.git('commit', '-q', '-m', message)
  }

  path(name: string): string {
    return join(this.root, name)
  }

  write(name: string, content: string | Buffer): void {
    mkdirSync(dirname(this.path(name)), { recursive: true })
    writeFileSync(this.path(name), content)
  }

  remove(name: string): void {
    rmSync(this.path(name), { recursive: true })
  }

  link(name: string, target: string): void {
    symlinkSync(target, this.path(name))
  }

  makeExecutable(name: string): void {
    chmodSync(this.path(name), 0o755)
  }

  /** What git says of a worktree. */
  status(root = this.root): string {
    return this.gitIn(root, 'status', '--porcelain=v2', '--untracked-files=all')
  }

  [Symbol.dispose](): void {
    rmSync(this.base, { recursive: true, force: true })
  }
}

const IDENTITY = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.org',
  GIT_ALLOW_PROTOCOL: 'file',
}

/** Every file below a directory with its kind, executable bit and bytes; names are latin1. `skip` leaves out what git ignores. */
export function filesOf(root: string, skip: (path: string) => boolean = () => false, below = ''): Map<string, string> {
  const found = new Map<string, string>()
  const at = (path: string): Buffer => Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, 'latin1')])
  for (const name of readdirSync(at(below), { encoding: 'latin1' }).sort()) {
    const path = below === '' ? name : `${below}/${name}`
    if (name === '.git' || skip(path)) continue
    const stat = lstatSync(at(path))
    if (stat.isDirectory()) for (const [inner, content] of filesOf(root, skip, path)) found.set(inner, content)
    else if (stat.isSymbolicLink()) found.set(path, `link to ${readlinkSync(at(path), 'latin1')}`)
    else found.set(path, `${(stat.mode & 0o100) === 0 ? 'file' : 'program'} ${readFileSync(at(path), 'latin1')}`)
  }
  return found
}
