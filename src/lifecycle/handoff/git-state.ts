import { execFile } from 'node:child_process'
import { basename } from 'node:path'
import { deadMountOn, notAnswering } from '../../disk/index.js'

/** What git says of a working directory. */
export type GitState = GitRepository | { problem: string }

export interface GitRepository {
  /** Absent when no branch is checked out. */
  branch?: string
  /** Absent before the first commit. */
  head?: string
  upstream?: string
  ahead: number
  behind: number
  /** Tracked files that differ from the last commit, with git's two letters. */
  changed: { path: string; state: string }[]
  untracked: string[]
  stashes: string[]
  /** Commits that are on no remote, newest first. Absent when there is no remote. */
  unpushed?: Commit[]
  recent: Commit[]
  /** What could not be found out, and why. */
  missing: string[]
}

export interface Commit {
  id: string
  subject: string
}

const LIMIT_MS = 5_000
const OUTPUT_MOST = 16 * 1024 * 1024
const RECENT = 5
const UNPUSHED = 20
const STASHES = 10

/**
 * Nothing that a repository's own configuration names is run: hooks, the watcher for changes, filters, pagers, editors, programs for
 * signatures and transports. Nothing is written either, not even a refreshed index.
 */
const CONFIG: readonly (readonly [name: string, value: string])[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['core.editor', 'true'],
  ['core.sshCommand', 'false'],
  ['core.askPass', ''],
  ['credential.helper', ''],
  ['diff.external', ''],
  ['gpg.program', 'false'],
  ['log.showSignature', 'false'],
  ['submodule.recurse', 'false'],
]
const PASSED_ON = ['PATH', 'HOME', 'XDG_CONFIG_HOME', 'TMPDIR']

/** Reads the state of the repository that a directory is in. Never throws: what cannot be known is said. `onRunning`: git has been started. */
export async function gitState(
  cwd: string,
  environment: Readonly<Record<string, string | undefined>>,
  { limitMs = LIMIT_MS, onRunning = () => {} }: { limitMs?: number; onRunning?: () => void } = {},
): Promise<GitState> {
  const mount = deadMountOn(cwd)
  if (mount !== undefined) return { problem: `the directory is ${notAnswering(mount)}` } // git would wait there for ever
  const git = new Git(cwd, environment, limitMs)
  const [filters, refs] = await Promise.all([
    git.run('config', '--null', '--name-only', '--get-regexp', '^filter\\..*\\.(clean|process|required)$'),
    git.run('for-each-ref', '--sort=-refname', '--count=2', '--format=%(refname)', 'refs/stash', 'refs/remotes'),
  ])
  if (filters.kind === 'missing') return { problem: 'git is not installed' }
  if (filters.kind === 'slow') return { problem: problemOf(filters) }
  git.disable(filters.kind === 'done' ? filters.output.split('\0') : [])
  const log = ['log', '--no-show-signature', '--no-decorate', '--no-color', '--no-mailmap', '--format=%h%x00%s', '-z']
  // Each program that is started takes as long as reading a few megabytes of the log: what the references rule out is not asked.
  const named = refs.kind === 'done' ? refs.output.split('\n') : ['refs/stash']
  const hasRemote = named.some((ref) => ref.startsWith('refs/remotes/'))
  const running = Promise.all([
    git.run(
      ...['status', '--porcelain=v2', '--branch', '-z', '--untracked-files=normal'],
      ...['--ignore-submodules=all', '--no-renames'],
    ),
    git.run(...log, '-n', String(RECENT), 'HEAD', '--'),
    hasRemote ? git.run(...log, '-n', String(UNPUSHED), 'HEAD', '--not', '--remotes', '--') : NOTHING,
    named.includes('refs/stash')
      ? git.run('log', '-g', '--no-show-signature', '--format=%gs', '-z', '-n', String(STASHES), 'refs/stash', '--')
      : NOTHING,
  ])
  onRunning()
  const [status, recent, unpushed, stashes] = await running
  if (status.kind !== 'done') return { problem: problemOf(status) }
  const state = parseStatus(status.output)
  if (state.head === undefined) return state
  const missing = Object.entries({ 'recent commits': recent, 'unpushed commits': unpushed }).flatMap(([what, done]) =>
    done.kind === 'done' ? [] : [`${what}: ${problemOf(done)}`],
  )
  return {
    ...state,
    recent: commitsIn(recent),
    ...(hasRemote ? { unpushed: commitsIn(unpushed) } : {}),
    stashes: stashes.kind === 'done' ? stashes.output.split('\0').filter((one) => one !== '') : [],
    missing,
  }
}

type Run =
  | { kind: 'done'; output: string }
  | { kind: 'failed'; because: string }
  | { kind: 'slow' }
  | { kind: 'missing' }

const NOTHING: Run = { kind: 'done', output: '' }

class Git {
  #config = [...CONFIG]
  readonly #until: number

  constructor(
    private readonly cwd: string,
    private readonly environment: Readonly<Record<string, string | undefined>>,
    limitMs: number,
  ) {
    this.#until = performance.now() + limitMs
  }

  /** Filters that the repository names; git runs them to compare a file that was touched. */
  disable(names: readonly string[]): void {
    for (const name of names) if (name !== '') this.#config.push([name, name.endsWith('.required') ? 'false' : ''])
  }

  run(...args: readonly string[]): Promise<Run> {
    const left = Math.max(1, Math.ceil(this.#until - performance.now()))
    const options = {
      cwd: this.cwd,
      env: this.#env(),
      timeout: left,
      killSignal: 'SIGKILL',
      maxBuffer: OUTPUT_MOST,
    } as const
    return new Promise((resolve) => {
      execFile('git', ['--no-optional-locks', '--no-replace-objects', ...args], options, (error, stdout, stderr) => {
        if (!error) resolve({ kind: 'done', output: stdout })
        else if (error.code === 'ENOENT') resolve({ kind: 'missing' })
        else if (error.killed) resolve({ kind: 'slow' })
        else resolve({ kind: 'failed', because: stderr.split('\n')[0]?.replace(/^fatal: /, '') || error.message })
      }).stdin?.end()
    })
  }

  #env(): Record<string, string> {
    const config = this.#config.flatMap(([name, value], at) => [
      [`GIT_CONFIG_KEY_${at}`, name],
      [`GIT_CONFIG_VALUE_${at}`, value],
    ])
    const passed = PASSED_ON.flatMap((name) =>
      this.environment[name] === undefined ? [] : [[name, this.environment[name]]],
    )
    return {
      ...Object.fromEntries(passed),
      ...Object.fromEntries(config),
      GIT_CONFIG_COUNT: String(this.#config.length),
      GIT_OPTIONAL_LOCKS: '0',
      GIT_TERMINAL_PROMPT: '0',
      GIT_NO_LAZY_FETCH: '1',
      GIT_ALLOW_PROTOCOL: 'none',
      GIT_PAGER: 'cat',
      LC_ALL: 'C',
    }
  }
}

function problemOf(run: Exclude<Run, { kind: 'done' }>): string {
  if (run.kind === 'missing') return 'git is not installed, or the directory is gone'
  return run.kind === 'slow' ? 'git did not answer in time' : run.because
}

const commitsIn = (run: Run): Commit[] => {
  if (run.kind !== 'done') return []
  const parts = run.output.split('\0')
  const commits: Commit[] = []
  for (let at = 0; at + 1 < parts.length; at += 2) commits.push({ id: parts[at] ?? '', subject: parts[at + 1] ?? '' })
  return commits
}

/** Skein's own file in the directory of an agent of Gas Town: nobody's work. */
export const GASTOWN_CHECKPOINT = '.polecat-checkpoint.json'

/** The output of `git status --porcelain=v2 --branch -z`. */
export function parseStatus(output: string): GitRepository {
  const state: GitRepository = { ahead: 0, behind: 0, changed: [], untracked: [], stashes: [], recent: [], missing: [] }
  for (const line of output.split('\0')) {
    if (line.startsWith('# ')) headerInto(state, line)
    else if (line.startsWith('? ')) {
      if (basename(line.slice(2)) !== GASTOWN_CHECKPOINT) state.untracked.push(line.slice(2))
    } else if (line.startsWith('1 ')) state.changed.push({ state: line.slice(2, 4), path: afterFields(line, 8) })
    else if (line.startsWith('u ')) state.changed.push({ state: line.slice(2, 4), path: afterFields(line, 10) })
  }
  return state
}

function headerInto(state: GitRepository, line: string): void {
  const [, name, ...rest] = line.split(' ')
  const value = rest.join(' ')
  if (name === 'branch.oid' && value !== '(initial)') state.head = value
  else if (name === 'branch.head' && value !== '(detached)') state.branch = value
  else if (name === 'branch.upstream') state.upstream = value
  else if (name === 'branch.ab') {
    state.ahead = Number(rest[0])
    state.behind = -Number(rest[1])
  }
}

function afterFields(line: string, count: number): string {
  let at = 0
  for (let field = 0; field < count; field += 1) at = line.indexOf(' ', at) + 1
  return line.slice(at)
}
