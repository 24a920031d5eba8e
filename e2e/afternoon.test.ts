import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { RUNNERS } from '../src/tools/index.js'
import { ModelServer } from './model-server/model-server.js'
import { NoticeLog } from './notice-log.js'
import { Scratch } from './scratch.js'
import { Skein, until } from './skein.js'
import { claude } from './tools/claude.js'
import { codex } from './tools/codex.js'
import type { RealTool } from './tools/real-tool.js'

/** A notice that should not come would have come by then: the slowest look at an agent whose turn has ended. */
const STRAY_MS = 4_000
const WAIT = ['--wait', '--timeout', '60s']

/** Prompts, failures, interrupts, restarts and new conversations, by the commands and keys of a user. */
class Afternoon {
  readonly expected: string[] = []
  #gates = 0

  constructor(
    private readonly tool: RealTool,
    private readonly server: ModelServer,
    private readonly skein: Skein,
    private readonly notices: NoticeLog,
  ) {}

  get agent(): string {
    return this.tool.name
  }

  async #told(kind: string): Promise<void> {
    this.expected.push(`${this.agent} ${kind}`)
    await this.notices.reaches(this.expected.length)
    expect(this.notices.given).toEqual(this.expected)
  }

  async start(): Promise<void> {
    await this.skein.run('start', '.', '--agent', this.agent, '--tool', this.tool.name)
  }

  async prompt(): Promise<void> {
    await this.skein.run('send', this.agent, 'hello', '--replace-draft', ...WAIT)
    await this.#told('finished')
  }

  async failure(): Promise<void> {
    await this.skein.failing('send', this.agent, 'fail now', ...WAIT)
    await this.#told('failed')
    await this.skein.run('ack', this.agent)
  }

  async permission(): Promise<void> {
    await this.skein.failing('send', this.agent, 'ask me first', ...WAIT)
    await this.#told('waiting')
    await this.skein.run('approve', this.agent)
    await this.skein.run('wait', this.agent, '--until', 'idle', '--timeout', '60s')
    await this.#told('finished')
  }

  async #busy(): Promise<void> {
    this.#gates += 1
    await this.skein.run('send', this.agent, `think ${this.agent} ${this.#gates}`, '--replace-draft')
    await this.server.arrival('thinking')
    await this.skein.listed(this.agent, { status: 'running' })
  }

  async interrupt(): Promise<void> {
    await this.#busy()
    const keys = RUNNERS.find(({ name }) => name === this.tool.name)?.keys.interrupt ?? []
    await this.skein.run('keys', this.agent, ...keys)
    await this.skein.listed(this.agent, { status: 'idle', reason: 'interrupted' })
  }

  async cutOff(): Promise<void> {
    await this.#busy()
    await this.skein.run('restart', this.agent)
    await this.skein.listed(this.agent, { status: 'idle' }, 60_000)
  }

  async restart(...how: string[]): Promise<void> {
    await this.skein.run('restart', this.agent, ...how)
  }

  async another(): Promise<void> {
    await this.skein.run('ack', this.agent)
    await this.skein.run('send', this.agent, 'hello', '--replace-draft', ...WAIT)
    await this.#told('finished')
    await this.skein.types(this.agent, this.tool.another.command)
    if (!this.tool.another.asksWhere) return
    await this.#told('waiting')
    await this.skein.run('keys', this.agent, 'Enter')
  }

  async compact(): Promise<void> {
    await this.skein.types(this.agent, '/compact')
    const screen = async (): Promise<string> => String((await this.skein.run('output', this.agent, '--screen')).text)
    await until('it is compacted', async () => /compacted/i.test(await screen()), 30_000, screen)
    // Nor does it show the code of a hook.
    expect(await screen()).not.toMatch(/hook|spool|SKEIN_/)
  }

  async crash(): Promise<void> {
    const { pid } = await this.skein.agent(this.agent)
    process.kill(Number(pid), 'SIGKILL')
    await this.#told('failed')
  }
}

it('claude and codex: twenty notices are expected of an afternoon, twenty are given, and none else', {
  timeout: 400_000,
}, async () => {
  const given: string[] = []
  for (const tool of [claude, codex]) {
    await using server = await ModelServer.start({
      rules: [
        { when: /^fail/, steps: [{ error: tool.refusal }] },
        { when: /^think/, steps: [{ gate: 'thinking', text: 'I have thought.' }] },
        {
          when: /^ask/,
          steps: [{ text: 'May I?', do: tool.asksAbout ? [tool.asksAbout] : [] }, { text: 'It was done.' }],
        },
        { when: /.*/, steps: [{ text: 'Hello to you.' }] },
      ],
    })
    using scratch = new Scratch(tool.name)
    const notices = new NoticeLog(scratch)
    const skein = new Skein(scratch, tool.setUp(scratch, server))
    await skein.run('daemon', 'start')
    const afternoon = new Afternoon(tool, server, skein, notices)
    await afternoon.start()
    await afternoon.prompt() // 1
    await afternoon.failure() // 2
    await afternoon.permission() // 3, 4
    await afternoon.interrupt()
    await afternoon.another() // 5, and with Codex 6
    await afternoon.prompt() // 6, 7
    await afternoon.compact()
    await afternoon.restart()
    await afternoon.prompt() // 7, 8
    await afternoon.cutOff()
    await afternoon.restart('--fresh')
    await afternoon.prompt() // 8, 9
    await afternoon.failure() // 9, 10
    if (tool === claude) await afternoon.crash() // 10
    await sleep(STRAY_MS)
    expect(notices.given).toEqual(afternoon.expected)
    given.push(...notices.given)
  }
  expect(given).toHaveLength(20)
})
