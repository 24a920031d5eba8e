import { execFileSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../../src/model/index.js'
import {
  type OpenTerminal,
  openTerminal,
  type PaneInfo,
  type Terminal,
  writeLaunchScript,
} from '../../src/terminal/index.js'

export const context: Context = {
  clock: { now: () => Date.now() },
  random: { bytes: (count) => randomBytes(count), uuid: () => randomUUID() },
  warn: () => {},
  progress: () => {},
  actor: 'test',
  host: 'test',
}

/** The tmux to test with: the one of the system, or another version. */
export const TMUX = process.env.TEST_TMUX || 'tmux'

/** A directory with a tmux server of its own, both gone at the end. */
export class Scratch implements AsyncDisposable {
  readonly path = mkdtempSync(join(tmpdir(), 'skein-term-'))
  readonly socket = { path: join(this.path, 'tmux') }
  readonly #open: Terminal[] = []
  #scripts = 0

  async terminal(options: Partial<OpenTerminal> = {}): Promise<Terminal> {
    const terminal = await openTerminal({
      socket: this.socket,
      context,
      executable: TMUX,
      kept: true,
      environment: { PATH: process.env.PATH, HOME: this.path },
      ...options,
    })
    this.#open.push(terminal)
    return terminal
  }

  /** A launch script for this program. */
  script(argv: readonly [string, ...string[]], env: Record<string, string> = {}): string {
    this.#scripts += 1
    const path = join(this.path, `launch-${this.#scripts}`)
    writeLaunchScript({ path, argv, env })
    return path
  }

  create(terminal: Terminal, session: string, argv: readonly [string, ...string[]]): Promise<PaneInfo> {
    return terminal.create({ session, cwd: this.path, script: this.script(argv), agent: `agent-${session}` })
  }

  /** tmux as anyone else would run it. */
  tmux(...args: string[]): string {
    return execFileSync(TMUX, ['-u', '-S', this.socket.path, ...args], {
      encoding: 'utf8',
      stdio: 'pipe',
      env: { PATH: process.env.PATH, HOME: this.path },
    })
  }

  serverPid(): number {
    return Number(this.tmux('display-message', '-p', '#{pid}'))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const terminal of this.#open) await terminal[Symbol.asyncDispose]()
    try {
      this.tmux('kill-server')
    } catch {
      // It was killed by the test.
    }
    rmSync(this.path, { recursive: true, force: true })
  }
}

/** Waits until it is so, and gives what was found. */
export async function eventually<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (let waited = 0; waited < 60_000; waited += 20) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    await sleep(20)
  }
  throw new Error(`never: ${what}`)
}

export const fileText = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
