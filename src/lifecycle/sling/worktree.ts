import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, rmdirSync } from 'node:fs'
import { dirname, isAbsolute } from 'node:path'
import { deadMountOn, isThere, notAnswering, realPath } from '../../disk/index.js'
import { setAside } from '../../home/index.js'
import { SkeinError } from '../../model/index.js'
import { pastHalfMade } from '../../snapshots/index.js'

const LIMIT_MS = 60_000
const MOST_OUTPUT = 1024 * 1024

export interface Worktree {
  /** The repository it belongs to. */
  repository: string
  directory: string
  branch: string
}

/** What was done to have it, so that it can be undone. */
export interface ReadyWorktree extends Worktree {
  how: 'there' | 'made' | 'repaired' | 'replaced'
  /** The branch was made for it, at this commit. */
  made?: string
}

/**
 * A git worktree that can be worked in: one that is there is verified, one that is damaged is repaired, or moved aside with all that is
 * in it and made again. Nothing of the user's is ever deleted.
 */
export async function prepareWorktree(git: Git, tree: Worktree, nowMs: number): Promise<ReadyWorktree> {
  const { directory, branch } = tree
  const base = await git.run(tree.repository, 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}')
  if (base === undefined)
    throw new SkeinError(
      'bad-input',
      `${tree.repository} is no git repository with a commit`,
      'Name one: --repo <directory>',
    )
  if (await isSound(git, tree)) return { ...tree, how: 'there' }
  if (isThere(directory) && readdirSync(directory).length > 0) {
    await git.run(tree.repository, 'worktree', 'repair', directory)
    if (await isSound(git, tree)) return { ...tree, how: 'repaired' }
    setAside(directory, 'damaged', nowMs)
    await make(git, tree, branch)
    return { ...tree, how: 'replaced' }
  }
  const isNew =
    (await git.run(tree.repository, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`)) === undefined
  await make(git, tree, branch)
  return { ...tree, how: 'made', ...(isNew ? { made: base } : {}) }
}

/** Takes back what was made, where nothing has happened in it since. */
export async function undoWorktree(
  git: Git,
  { repository, directory, branch, how, made }: ReadyWorktree,
): Promise<void> {
  if (how !== 'made') return
  // Without force: git refuses to remove a worktree in which something was changed.
  if ((await git.run(repository, 'worktree', 'remove', directory)) === undefined) return
  const now = await git.run(repository, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`)
  if (made !== undefined && now === made) await git.run(repository, 'branch', '-D', branch)
}

/** Whether nothing in it would be lost: no change and no untracked file. */
export const isClean = async (git: Git, directory: string): Promise<boolean> =>
  (await git.run(directory, 'status', '--porcelain', '--untracked-files=normal')) === ''

async function make(git: Git, { repository, directory }: Worktree, branch: string): Promise<void> {
  // What git still knows of this place. Not `prune`: that would drop every worktree of the user's that happens not to be mounted.
  if (isThere(directory)) rmdirSync(directory)
  await git.run(repository, 'worktree', 'remove', '--force', '--force', directory)
  mkdirSync(dirname(directory), { recursive: true })
  const there = await git.run(repository, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`)
  // On its own: `worktree add -b` would leave it behind where it fails, and could then not be tried again.
  if (there === undefined) await git.must(repository, 'branch', '--no-track', branch, 'HEAD')
  await git.must(repository, 'worktree', 'add', '--quiet', directory, branch)
  if (await isSound(git, { repository, directory, branch })) return
  throw new SkeinError(
    'bad-input',
    `git made ${directory}, which cannot be worked in`,
    `See: git -C ${directory} status`,
  )
}

/** It is the top of a worktree of that very repository, with a commit, and git can read its state. */
async function isSound(git: Git, { repository, directory }: Worktree): Promise<boolean> {
  if (!isThere(directory)) return false
  const top = await git.run(directory, 'rev-parse', '--show-toplevel')
  if (top === undefined || top !== realPath(directory)) return false
  const [ours, its] = await Promise.all(
    [repository, directory].map((place) => git.run(place, 'rev-parse', '--path-format=absolute', '--git-common-dir')),
  )
  if (ours === undefined || ours !== its) return false
  const head = await git.run(directory, 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}')
  return (
    head !== undefined && (await git.run(directory, 'status', '--porcelain', '--ignore-submodules=all')) !== undefined
  )
}

type Ran = { output: string } | { problem: string }

/** Commands that compare files or write them, for which git runs filters. */
const CONVERTING = new Set(['status', 'worktree'])

/**
 * git, without the hooks, filters and transports that a repository's configuration names, and without the variables of a hook that may have called
 * us. Filters of the user's own configuration, such as that of LFS, do run.
 */
export class Git {
  constructor(private readonly environment: Readonly<Record<string, string | undefined>>) {}

  /** What it prints; undefined when it fails. */
  async run(cwd: string, ...args: readonly string[]): Promise<string | undefined> {
    const ran = await this.#ran(cwd, args)
    return 'output' in ran ? ran.output : undefined
  }

  /** The same with something to read. */
  async runWith(input: string, cwd: string, ...args: readonly string[]): Promise<string | undefined> {
    const ran = await this.#ran(cwd, args, input)
    return 'output' in ran ? ran.output : undefined
  }

  async must(cwd: string, ...args: readonly string[]): Promise<string> {
    const ran = await this.#ran(cwd, args)
    if ('output' in ran) return ran.output
    throw new SkeinError('bad-input', `git ${args[0]} ${args[1]} failed: ${ran.problem}`, `Try it by hand in ${cwd}`)
  }

  /** Filters that the repository names, as the user's own configuration has them: most often not at all. */
  async #filters(cwd: string): Promise<[name: string, value: string][]> {
    const ran = await this.#start(cwd, ['config', '--null', '--show-scope', '--get-regexp', '^filter\\.'], '', [])
    const fields = 'output' in ran ? ran.output.split('\0') : []
    const [named, own] = [new Set<string>(), new Map<string, string>()]
    for (let n = 0; n + 1 < fields.length; n += 2) {
      const [scope, entry = ''] = [fields[n], fields[n + 1]]
      const [name = ''] = entry.split('\n', 1)
      if (scope === 'local' || scope === 'worktree') named.add(name)
      else own.set(name, entry.slice(name.length + 1))
    }
    return [...named].map((name) => [name, own.get(name) ?? (name.endsWith('.required') ? 'false' : '')])
  }

  async #ran(cwd: string, args: readonly string[], input = ''): Promise<Ran> {
    const settings = CONVERTING.has(args[0] ?? '') ? await this.#filters(cwd) : []
    return pastHalfMade(
      () => this.#start(cwd, args, input, settings),
      (ran) => ('problem' in ran ? ran.problem : ''),
    )
  }

  #start(
    cwd: string,
    args: readonly string[],
    input: string,
    settings: readonly (readonly [name: string, value: string])[],
  ): Promise<Ran> {
    const mount = [cwd, ...args.filter((arg) => isAbsolute(arg))].map(deadMountOn).find((one) => one !== undefined)
    if (mount !== undefined) return Promise.resolve({ problem: `it is ${notAnswering(mount)}` })
    const { PATH, HOME, XDG_CONFIG_HOME } = this.environment
    const env = {
      ...Object.fromEntries(Object.entries({ PATH, HOME, XDG_CONFIG_HOME }).filter(([, value]) => value !== undefined)),
      ...{ GIT_TERMINAL_PROMPT: '0', GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none', LC_ALL: 'C' },
      ...Object.fromEntries(settings.map(([name], n) => [`GIT_CONFIG_KEY_${n}`, name])),
      ...Object.fromEntries(settings.map(([, value], n) => [`GIT_CONFIG_VALUE_${n}`, value])),
      GIT_CONFIG_COUNT: String(settings.length),
    } as Record<string, string>
    const fixed = ['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false', '-C', cwd]
    const options = { env, timeout: LIMIT_MS, killSignal: 'SIGKILL', maxBuffer: MOST_OUTPUT } as const
    return new Promise((resolve) => {
      const child = execFile('git', [...fixed, ...args], options, (error, stdout, stderr) => {
        if (!error) resolve({ output: stdout.replace(/\n$/, '') })
        else if (error.code === 'ENOENT') resolve({ problem: 'git is not installed' })
        else
          resolve({ problem: error.killed ? 'it took too long' : (stderr.trim().split('\n').at(-1) ?? error.message) })
      })
      child.stdin?.on('error', () => undefined) // it ended without reading: its exit code says why
      if (input === '') child.stdin?.end()
      else child.stdin?.end(input)
    })
  }
}
