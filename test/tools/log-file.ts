import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import {
  type Fact,
  foldSession,
  LOG_TOOLS,
  type LoggedSession,
  type LogRef,
  type LogTool,
  type Resume,
} from '../../src/tools/index.js'

export function toolNamed(name: string): LogTool {
  const tool = LOG_TOOLS.find((each) => each.name === name)
  if (!tool) throw new Error(`no tool ${name}`)
  return tool
}

/** A directory that is gone when the test is. */
export function scratchDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'skein-log-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** A log that a test writes line by line, in a directory of its own. */
export class LogFile {
  readonly path: string

  constructor(
    readonly tool: LogTool,
    name: string,
    lines: readonly object[] = [],
  ) {
    this.path = join(scratchDirectory(), name)
    mkdirSync(dirname(this.path), { recursive: true })
    writeFileSync(this.path, '')
    this.append(...lines)
  }

  append(...lines: readonly object[]): void {
    appendFileSync(this.path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  }

  appendRaw(text: string): void {
    appendFileSync(this.path, text)
  }

  get log(): LogRef {
    const log = this.tool.logAt(this.path)
    if (!log) throw new Error(`no log at ${this.path}`)
    return log
  }

  facts(from?: Resume): Fact[] {
    return [...this.tool.read(this.log, from ? { from } : {})]
  }

  session(): LoggedSession {
    return foldSession([this.facts()])
  }
}

export function resumeOf(facts: readonly Fact[]): Resume {
  const end = facts.at(-1)
  if (end?.kind !== 'checkpoint') throw new Error('no checkpoint')
  return end.resume
}

export const prompts = (session: LoggedSession): string[] => session.turns.map((turn) => turn.prompt)
