import { chmodSync, existsSync, readFileSync } from 'node:fs'
import type { Scratch } from './scratch.js'
import { until } from './skein.js'

/** Every notice that a daemon gives, by a command that writes each down. */
export class NoticeLog {
  readonly #file: string

  constructor(scratch: Scratch) {
    this.#file = scratch.path('notices.jsonl')
    const program = scratch.write('write-down', `#!/bin/sh\ncat >> '${this.#file}'\n`)
    chmodSync(program, 0o700)
    const settings = `[notify]\nby = ["command"]\ncommand = ["${program}"]\nper_minute = 1000\n`
    scratch.write('skein/config.toml', settings)
  }

  /** As `agent kind`, oldest first. */
  get given(): string[] {
    const text = existsSync(this.#file) ? readFileSync(this.#file, 'utf8') : ''
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { agent: string; kind: string; body: string })
      .map(({ agent, kind }) => `${agent} ${kind}`)
  }

  async reaches(count: number): Promise<void> {
    await until(
      `${count} notices are given`,
      () => this.given.length >= count,
      20_000,
      () => `Given: ${JSON.stringify(this.given)}`,
    )
  }
}
