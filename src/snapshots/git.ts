import { spawn } from 'node:child_process'
import { Readable } from 'node:stream'
import { refuseDeadDirectory } from '../disk/index.js'
import { SkeinError } from '../model/index.js'
import { pastHalfMade } from './half-made-worktree.js'

export interface GitProgram {
  /** `git`, or the path of one. */
  executable: string
  /** PATH, by which git finds its own helpers. */
  searchPath: string
}

interface GitCall {
  cwd?: string
  /** Added to the clean environment; undefined takes a variable out of it. */
  env?: Readonly<Record<string, string | undefined>>
  /** In pieces where it is too long for the memory. */
  input?: string | Buffer | Iterable<Buffer>
  /** Takes what it prints, piece by piece, in place of the answer. */
  output?: (bytes: Buffer) => void
  /** Ends the program; the call then fails with `GitStopped`. */
  signal?: AbortSignal | undefined
  /** Exit codes that are no failure, beside 0. */
  accept?: readonly number[]
}

interface Ended {
  code: number | null
  stdout: Buffer
  stderr: string
}

interface GitAnswer extends Ended {
  code: number
}

/** A git program that was ended because its time was up. */
export class GitStopped extends Error {}

/**
 * Runs git by argument vector in a clean environment: no variable of the caller, no configuration of the system or the user, no hooks, no
 * prompt, no lock that git takes only for its own convenience.
 */
export class Git {
  constructor(private readonly program: GitProgram) {}

  async bytes(args: readonly string[], call: GitCall = {}): Promise<Buffer> {
    return (await this.run(args, call)).stdout
  }

  /** What it prints, without the last line break. Paths are bytes, so the text is latin1: one character per byte. */
  async text(args: readonly string[], call: GitCall = {}): Promise<string> {
    return (await this.bytes(args, call)).toString('latin1').replace(/\n$/, '')
  }

  /** Fields that end in NUL. */
  async fields(args: readonly string[], call: GitCall = {}): Promise<string[]> {
    const text = (await this.bytes(args, call)).toString('latin1')
    return text === '' ? [] : text.replace(/\0$/, '').split('\0')
  }

  async run(args: readonly string[], call: GitCall = {}): Promise<GitAnswer> {
    const { code, stdout, stderr } = await pastHalfMade(
      () => this.#start(args, call),
      (ended) => (ended.code === 0 ? '' : ended.stderr),
    )
    if (code === 0 || (code !== null && call.accept?.includes(code))) return { code, stdout, stderr }
    if (call.signal?.aborted) throw new GitStopped(`git ${args[0] ?? ''} took too long`)
    throw gitFailed(args, code, stderr)
  }

  #start(args: readonly string[], call: GitCall): Promise<Ended> {
    const { cwd = '/', env = {}, input, output, signal } = call
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(new GitStopped('no time was left'))
      refuseDeadDirectory(cwd)
      const child = spawn(this.program.executable, [...ALWAYS, ...args], {
        cwd,
        env: { ...CLEAN, PATH: this.program.searchPath, ...env },
        stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      })
      const stdout: Buffer[] = []
      const stderr: Buffer[] = []
      let failure: Error | undefined
      const fail = (error: Error): void => {
        failure ??= error
        child.kill('SIGTERM')
      }
      child.stdout?.on('data', (bytes) => {
        try {
          if (output) output(bytes)
          else stdout.push(bytes)
        } catch (error) {
          fail(error as Error)
        }
      })
      child.stderr?.on('data', (bytes) => stderr.push(bytes))
      child.stdin?.on('error', () => {}) // it ended before it had read all: its exit code says why
      // git removes its lock files on SIGTERM; a program that is stuck in the kernel gets the other signal.
      let kill: NodeJS.Timeout | undefined
      const stop = (): void => {
        child.kill('SIGTERM')
        kill = setTimeout(() => child.kill('SIGKILL'), 2_000)
      }
      signal?.addEventListener('abort', stop, { once: true })
      const settle = (): void => {
        signal?.removeEventListener('abort', stop)
        clearTimeout(kill)
      }
      child.once('error', (error) => {
        settle()
        reject(missingGit(error))
      })
      child.once('close', (code) => {
        settle()
        if (failure) return reject(failure)
        resolve({ code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() })
      })
      if (!child.stdin || input === undefined) return
      if (typeof input === 'string' || Buffer.isBuffer(input)) child.stdin.end(input)
      else Readable.from(input).once('error', fail).pipe(child.stdin)
    })
  }
}

const ALWAYS = ['--no-pager', '-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false'] as const

/** HOME is no directory: git then finds neither the user's configuration nor the user's attributes. Without one it would refuse a `~/` in them. */
export const CLEAN: Readonly<Record<string, string>> = {
  HOME: '/dev/null',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_NO_LAZY_FETCH: '1',
  // A git that does not know the line above asks this one before it talks to anybody.
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'skein',
  GIT_AUTHOR_EMAIL: 'skein@localhost',
  GIT_COMMITTER_NAME: 'skein',
  GIT_COMMITTER_EMAIL: 'skein@localhost',
}

function gitFailed(args: readonly string[], code: number | null, stderr: string): SkeinError {
  const command = args.find((arg) => /^[a-z][a-z-]*$/.test(arg)) ?? ''
  const lines = stderr.split('\n').filter((line) => line !== '')
  if (/No space left on device/.test(stderr))
    return new SkeinError('disk-full', `git ${command} found no space left`, 'Free some space, then try again', {
      details: lines.slice(0, 5),
    })
  const next = 'Check the repository with `git fsck` and the snapshots with `skein snapshots verify`'
  return new SkeinError('git-failed', `git ${command} ended with code ${code ?? 'none'}`, next, {
    details: lines.slice(0, 5),
  })
}

function missingGit(error: Error): Error {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return error
  return new SkeinError('git-missing', 'git cannot be started', 'Install git, or set its directory in PATH', {
    cause: error,
  })
}
