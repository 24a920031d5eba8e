import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Screen } from '../src/tools/run/tool-runner.js'
import type { Scratch } from './scratch.js'

const WIDTH = 120
const HEIGHT = 40

/** One program in a tmux of its own, driven by hand: for tests below the rooms that drive it in earnest. */
export class Pane {
  readonly #socket: string
  readonly #scratch: Scratch
  readonly #width: number

  constructor(
    scratch: Scratch,
    run: { argv: readonly string[]; env: Record<string, string>; cwd?: string; name?: string; width?: number },
  ) {
    this.#scratch = scratch
    this.#socket = scratch.path(`${run.name ?? 'pane'}.sock`)
    this.#width = run.width ?? WIDTH
    const size = ['-x', String(this.#width), '-y', String(HEIGHT)]
    const start = ['new-session', '-d', ...size, '-c', run.cwd ?? scratch.project, ...run.argv]
    // The server takes its environment from who starts it; the pane stays when its program ends, to be looked at.
    this.#tmux(['start-server', ';', 'set', '-g', 'remain-on-exit', 'on', ';', ...start], run.env)
  }

  #tmux(args: readonly string[], env = this.#scratch.env()): string {
    return execFileSync('tmux', ['-u', '-f', '/dev/null', '-S', this.#socket, ...args], { env, encoding: 'utf8' })
  }

  get screen(): Screen {
    const lines = this.#tmux(['capture-pane', '-p']).replace(/\n+$/, '').split('\n')
    return { lines, title: this.#show('#{pane_title}'), width: this.#width }
  }

  get text(): string {
    return this.screen.lines.join('\n')
  }

  /** The screen with its colours. */
  get styled(): string {
    return this.#tmux(['capture-pane', '-p', '-e'])
  }

  get pid(): number {
    return Number(this.#show('#{pane_pid}'))
  }

  get isDead(): boolean {
    return this.#show('#{pane_dead}') === '1'
  }

  #show(format: string): string {
    return this.#tmux(['display-message', '-p', format]).replace(/\n$/, '')
  }

  /** Puts the text into the pane as a terminal would. */
  paste(text: string): void {
    execFileSync('tmux', ['-S', this.#socket, 'load-buffer', '-b', 'text', '-'], {
      input: text,
      env: this.#scratch.env(),
    })
    this.#tmux(['paste-buffer', '-p', '-d', '-b', 'text'])
  }

  /**
   * Pastes the text and presses Enter. Some programs show their input line before they listen and lose what comes then; some
   * take an Enter right after a paste for a part of it.
   */
  async submit(text: string): Promise<void> {
    const shown = text.split('\n')[0]?.slice(0, 20) ?? ''
    for (let tries = 1; ; tries += 1) {
      this.paste(text)
      const what = `the text stands in the input line: ${shown}`
      try {
        await this.until(what, () => this.text.includes(shown), 5_000)
        break
      } catch (error) {
        if (tries === 3) throw error
      }
    }
    await sleep(300)
    this.press('Enter')
  }

  press(...keys: string[]): void {
    for (const key of keys) this.#tmux(['send-keys', key])
  }

  /** Waits until it is so; otherwise tells what stood on the screen. */
  async until(what: string, isSo: () => boolean | Promise<boolean>, timeoutMs = 60_000): Promise<void> {
    const end = performance.now() + timeoutMs
    while (!(await isSo())) {
      if (performance.now() > end) {
        throw new Error(`Waited ${timeoutMs / 1000} s until ${what}.\nTitle: ${this.screen.title}\n${this.text}`)
      }
      await sleep(100)
    }
  }

  async shows(pattern: RegExp, timeoutMs?: number): Promise<void> {
    await this.until(`the screen shows ${pattern}`, () => pattern.test(this.text), timeoutMs)
  }

  close(): void {
    this.#tmux(['kill-server'])
  }
}
