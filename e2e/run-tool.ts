import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SpooledMessage } from '../src/journal/index.js'
import { instantOf, parseAgentId, parseSessionId, type SessionId } from '../src/model/index.js'
import { placeLinks } from '../src/tools/index.js'
import type { AgentReport, Launch, Preparation, ScreenReading, ToolRunner } from '../src/tools/run/tool-runner.js'
import { Pane } from './pane.js'
import type { Scratch } from './scratch.js'

/** A run of a tool by its runner alone: what it prepared is carried out, and what the program tells is read, by hand. */
export class RealRun {
  readonly pane: Pane
  readonly launch: Launch
  readonly prepared: Preparation
  readonly #runner: ToolRunner

  private constructor(scratch: Scratch, runner: ToolRunner, launch: Launch, userEnv: Record<string, string>) {
    this.#runner = runner
    this.launch = launch
    this.prepared = runner.prepare(launch)
    for (const { path, content, onlyIfAbsent } of this.prepared.files) {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      if (!onlyIfAbsent || !existsSync(path)) writeFileSync(path, content, { mode: 0o600 })
    }
    placeLinks(this.prepared.links ?? [])
    const env = Object.entries({ ...userEnv, ...this.prepared.env }).filter(([, value]) => value !== undefined)
    const own = Object.fromEntries(env.map(([name, value]) => [name, String(value)]))
    this.pane = new Pane(scratch, { argv: this.prepared.argv, env: own, name: launch.spool.run })
  }

  static async start(
    scratch: Scratch,
    runner: ToolRunner,
    userEnv: Record<string, string>,
    options: Pick<Launch, 'kind'> & Partial<Launch>,
  ): Promise<RealRun> {
    const run = randomUUID()
    const [directory, spool] = [scratch.path('run', run), scratch.path('spool', run)]
    for (const path of [directory, spool]) mkdirSync(path, { recursive: true, mode: 0o700 })
    const launch: Launch = {
      agent: parseAgentId('agent-1'),
      cwd: scratch.project,
      startedAt: instantOf(Date.now()),
      directory,
      spool: { directory: spool, run, command: spoolCommand(spool, run, runner.name) },
      environment: { home: scratch.home, env: userEnv },
      port: await freePort(),
      secret: randomUUID(),
      ...options,
    }
    return new RealRun(scratch, runner, launch, userEnv)
  }

  get reading(): ScreenReading {
    return this.#runner.readScreen(this.pane.screen)
  }

  get titleStatus(): string | undefined {
    return this.#runner.readTitle(this.pane.screen.title)?.status
  }

  /** Everything the program told so far, oldest first. */
  get messages(): SpooledMessage[] {
    const { directory } = this.launch.spool
    return readdirSync(directory)
      .filter((name) => name.endsWith('.msg'))
      .map((name) => join(directory, name))
      .sort((a, b) => statSync(a).mtimeMs - statSync(b).mtimeMs || a.localeCompare(b))
      .map((path) => {
        const [head = '', ...rest] = readFileSync(path, 'utf8').split('\n')
        return { ...JSON.parse(head), at: '', payload: JSON.parse(rest.join('\n')) }
      })
  }

  get tellings(): AgentReport[] {
    return this.messages.flatMap((message) => this.#runner.readMessage(message) ?? [])
  }

  /** Waits for something to be told. */
  async told(what: string, isIt: (telling: AgentReport) => boolean): Promise<AgentReport> {
    let found: AgentReport | undefined
    await this.pane.until(`it tells ${what}`, () => {
      found = this.tellings.findLast(isIt)
      return found !== undefined
    })
    return found ?? {}
  }

  /** Takes the selected row of an open dialog, which must be the one that allows. A dialog may not listen at once. */
  async allow(): Promise<void> {
    await this.pane.until('the dialog is answered', async () => {
      const { dialog } = this.reading
      if (!dialog) return true
      const chosen = dialog.options.find((option) => option.isSelected)
      if (chosen?.meaning !== 'allow') throw new Error(`Not the row that allows: ${chosen?.label}`)
      this.pane.press('Enter')
      await sleep(500)
      return false
    })
  }

  /** Waits until it can be typed to. */
  async ready(): Promise<void> {
    await this.shows('idle')
    if (this.#runner.isReadyWhenTold) await this.told('that it is ready', ({ evidence }) => evidence?.status === 'idle')
  }

  async shows(status: ScreenReading['status']): Promise<ScreenReading> {
    await this.pane.until(`the screen reads as ${status}`, () => this.reading.status === status)
    return this.reading
  }
}

export const newSession = (): SessionId => parseSessionId(randomUUID())

/** What a hook runs: a message is written beside its place and then renamed. */
function spoolCommand(spool: string, run: string, tool: string): string {
  const head = `{"v":1,"agent":"agent-1","run":"${run}","tool":"${tool}","pid":%s}`
  return `t=$(mktemp '${spool}/.XXXXXX') && { printf '${head}\\n' "$PPID"; cat; } > "$t" && mv "$t" '${spool}'/"$(basename "$t" | tr -d .)".msg`
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
