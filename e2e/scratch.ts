import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { mustBeOffline } from './programs.js'

/** The variable by which a scratch's processes are found again, however they were started. */
const MARK = 'SKEIN_TEST_SCRATCH'

/** A home, a project and room for sockets that belong to one test; everything in it and every process of it ends with it. */
export class Scratch implements Disposable {
  readonly root: string
  readonly #mark = randomUUID()

  constructor(name: string) {
    mustBeOffline()
    this.root = mkdtempSync(join(tmpdir(), `skein-${name}-`))
    for (const folder of ['home', 'project', 'tmp', 'run', 'spool']) mkdirSync(join(this.root, folder), { mode: 0o700 })
    this.write('project/README.md', '# A project\n')
    const git = (...args: string[]) => execFileSync('git', args, { cwd: this.project, env: this.env() })
    git('init', '-q', '-b', 'main')
    git('add', '.')
    git('-c', 'user.name=Test', '-c', 'user.email=test@example.com', 'commit', '-q', '-m', 'A project')
  }

  get home(): string {
    return join(this.root, 'home')
  }
  /** A git repository with one file. */
  get project(): string {
    return join(this.root, 'project')
  }
  /** For the files that a runner prepares. */
  get run(): string {
    return join(this.root, 'run')
  }
  get spool(): string {
    return join(this.root, 'spool')
  }

  path(...parts: string[]): string {
    return join(this.root, ...parts)
  }

  write(path: string, content: string | object): string {
    const whole = this.path(path)
    mkdirSync(dirname(whole), { recursive: true, mode: 0o700 })
    writeFileSync(whole, typeof content === 'string' ? content : JSON.stringify(content, null, 2))
    chmodSync(whole, 0o600)
    return whole
  }

  /** What a user's shell would have, with nothing of the machine's own user in it. */
  env(more: Readonly<Record<string, string | undefined>> = {}): Record<string, string> {
    const all = {
      PATH: process.env.PATH,
      HOME: this.home,
      TMPDIR: this.path('tmp'),
      LANG: 'C.UTF-8',
      TERM: 'xterm-256color',
      COLORTERM: 'truecolor',
      SHELL: '/bin/sh',
      USER: 'test',
      [MARK]: this.#mark,
      ...more,
    }
    return Object.fromEntries(
      Object.entries(all).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
    )
  }

  /** Everything still running that was started with `env()`: as `pid command line`. */
  processes(): string[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
      .flatMap((pid) => {
        const read = (file: string): string => {
          try {
            return readFileSync(`/proc/${pid}/${file}`, 'utf8')
          } catch {
            return '' // it has just ended
          }
        }
        const isOurs = read('environ').includes(`${MARK}=${this.#mark}`)
        const isZombie = /^State:\s+Z/m.test(read('status'))
        return isOurs && !isZombie ? [`${pid} ${read('cmdline').replaceAll('\0', ' ').trim()}`] : []
      })
  }

  [Symbol.dispose](): void {
    // A process that is just beginning has no environment to be known by, and may still write: then it is looked for again.
    for (let round = 0; ; round += 1) {
      this.#endProcesses()
      try {
        rmSync(this.root, { recursive: true, force: true, maxRetries: 2 })
        return
      } catch (error) {
        if (round === 20) throw error
      }
    }
  }

  /** A dying program may start another one: looks until nothing is left. */
  #endProcesses(): void {
    for (let rest = this.processes(), round = 0; rest.length > 0 && round < 100; rest = this.processes(), round += 1) {
      for (const line of rest) {
        try {
          process.kill(Number(line.split(' ')[0]), 'SIGKILL')
        } catch {
          // it has ended by itself
        }
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
    }
  }
}
