import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ToolRunner } from '../../src/tools/index.js'
import { fakeTool } from './fake-tool.js'

export const SESSION = '7d1b3c2a-5f60-4e6d-9c3b-2a1f0e9d8c7b'
/** Reads the logs of Claude Code, runs the fake program. */
export const claudeLike = (): ToolRunner => fakeTool({ name: 'claude' })

export const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: cwd },
  }).trimEnd()

export const projectFolder = (cwd: string): string => cwd.replace(/[^A-Za-z0-9]/g, '-')

/** A log of Claude Code, turn by turn, ten seconds each. */
export class TurnedLog {
  readonly #lines: object[] = []

  constructor(private readonly cwd: string) {}

  prompt(turn: number, content: string): void {
    this.#add('user', TurnedLog.begun(turn), { role: 'user', content }, { promptSource: 'typed' })
  }

  reply(turn: number, text: string): void {
    const content = [{ type: 'text', text }]
    const message = { id: `m${turn}`, role: 'assistant', content, stop_reason: 'end_turn' }
    this.#add('assistant', TurnedLog.begun(turn) + 2_000, message)
  }

  static begun(turn: number): number {
    return Date.UTC(2026, 10, 16, 8, 0, turn * 10)
  }

  static ended(turn: number): number {
    return TurnedLog.begun(turn) + 3_000
  }

  /** Where Claude Code would have it, in the home of its user. */
  write(root: string): string {
    const path = join(root, '.claude/projects', projectFolder(this.cwd), `${SESSION}.jsonl`)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, this.#lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    return path
  }

  #add(type: string, ms: number, message: object, more: object = {}): void {
    const count = this.#lines.length
    const facts = { sessionId: SESSION, cwd: this.cwd, version: '2.1.325', timestamp: new Date(ms).toISOString() }
    this.#lines.push({
      type,
      uuid: `u${count}`,
      parentUuid: count === 0 ? null : `u${count - 1}`,
      ...facts,
      message,
      ...more,
    })
  }
}
