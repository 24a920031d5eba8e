import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseCustomTools, runnersFor } from '../../src/tools/index.js'
import { scratch } from '../home/scratch.js'
import { type Workshop, workshop } from './workshop.js'

/** A program that names the same conversation to everybody who asks, and then waits. */
async function shopOfOneMind(): Promise<Workshop> {
  const root = scratch()
  const program = join(root, 'one-mind')
  const script = `#!/bin/sh\nif [ "$1" = --json ]; then echo '{"id": "the-only-one"}'; else echo "args: $*"; sleep 600; fi\n`
  writeFileSync(program, script)
  chmodSync(program, 0o755)
  const keys = { command: program, output_format_flag: '--json', session_id_json_path: '.id', resume_flag: '--resume' }
  const custom = parseCustomTools({ mind: keys }, '/cfg/config.toml', [])
  return workshop({ root, runners: runnersFor({ custom, patterns: [] }).all })
}

const start = ({ agents, project }: Workshop, agent: string) => agents.start({ agent, cwd: project, tool: 'mind' })

it('an id that a living agent has is refused to a newcomer, which begins without it, and is told once', async () => {
  const shop = await shopOfOneMind()
  const { home, agents } = shop
  const { session: first } = await start(shop, 'first')
  const { session: second } = await start(shop, 'second')
  expect(first?.id).toBe('the-only-one')
  expect(second?.id).not.toBe('the-only-one')
  const refusals = await home.events.read({ type: 'identity_refuse' })
  expect(refusals.map(({ agent, payload }) => ({ agent, ...payload }))).toMatchObject([
    { agent: 'second', session: 'the-only-one', because: 'it is already the conversation of first' },
  ])
  await agents.kill('second')
  expect(await home.sessions.get('the-only-one')).not.toHaveProperty('outcome')
  expect((await agents.list()).find(({ address }) => address === 'first')).toMatchObject({
    session_id: 'the-only-one',
    session_how: 'captured',
  })
})

it('of several that are started at once, one gets it', async () => {
  const shop = await shopOfOneMind()
  const started = await Promise.all(['a', 'b', 'c', 'd'].map((name) => start(shop, name)))
  const ids = started.map(({ session }) => session?.id)
  expect(new Set(ids).size).toBe(4)
  expect(ids.filter((id) => id === 'the-only-one')).toHaveLength(1)
})

it('an agent that has stopped has left it to whoever comes next', async () => {
  const shop = await shopOfOneMind()
  await start(shop, 'first')
  await shop.agents.kill('first')
  expect((await start(shop, 'second')).session?.id).toBe('the-only-one')
})
