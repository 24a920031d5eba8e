import { expect, it } from 'vitest'
import { ModelServer } from './model-server/model-server.js'
import { cells } from './operation.js'
import { Scratch } from './scratch.js'
import { Skein, until } from './skein.js'
import { claude } from './tools/claude.js'
import { codex } from './tools/codex.js'
import { REAL_TOOLS } from './tools/index.js'

const AGENT = 'worker'
const CELL = 'hard budget ends it after its turn'
const TESTED = process.env.SKEIN_ALL_TOOLS ? REAL_TOOLS : [claude, codex]
const RULES = [
  { when: /^think/, steps: [{ gate: 'thinking', text: 'I have thought.' }] },
  { when: /.*/, steps: [{ text: 'Hello to you.' }] },
]

it.concurrent.for(TESTED)(
  '$name $version: a hard limit that is reached in the middle of a turn stops the agent at its end, and not before',
  async (tool, context) => {
    const filled = cells(context, tool.name, [CELL])
    await using server = await ModelServer.start({ rules: RULES })
    using scratch = new Scratch(tool.name)
    scratch.write('skein/config.toml', '[notify]\nby = []\n[watchdog]\nrespawn = "always"\nbackoff = "1s"\n')
    const skein = new Skein(scratch, tool.setUp(scratch, server))
    await skein.run('start', '.', '--agent', AGENT, '--tool', tool.name)
    await skein.listed(AGENT, { status: 'idle' }, 60_000)
    await skein.run('send', AGENT, 'hello', '--wait', '--timeout', '90s')
    await skein.run('send', AGENT, 'think it over')
    await server.arrival('thinking')
    await skein.run('budget', 'set', AGENT, '--hard', '10tok')
    const isUsedUp = async (): Promise<boolean> => {
      await skein.run('ingest')
      const { budgets } = (await skein.run('budget', 'show', AGENT)) as { budgets: { state: string }[] }
      return budgets[0]?.state === 'hard'
    }
    await until('the budget is used up', isUsedUp, 60_000)
    expect(await skein.failing('send', AGENT, 'one more')).toMatchObject({
      error: expect.stringContaining('is used up'),
    })
    expect(await skein.agent(AGENT)).toMatchObject({ status: 'running' })
    expect(await skein.events('budget_used_up')).toEqual([])
    server.release('thinking')
    const { reason } = await skein.listed(AGENT, { status: 'stopped' }, 60_000)
    expect(reason).toContain(`the budget of agent ${AGENT} is used up`)
    expect(await skein.run('output', AGENT)).toMatchObject({ text: 'I have thought.' })
    // It is not started again, whatever the rule of the watchdog.
    expect(await skein.events('agent_started')).toHaveLength(1)
    filled(CELL)
  },
)
