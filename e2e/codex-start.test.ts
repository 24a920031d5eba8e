import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { ModelServer } from './model-server/model-server.js'
import { Scratch } from './scratch.js'
import { Skein } from './skein.js'
import { codex } from './tools/codex.js'

/** While its MCP servers start, Codex's title says so; its prompt is there, and nothing was asked of it. */
it('codex: servers that take long to start are no work, and their end is no reply', async () => {
  await using server = await ModelServer.start({ rules: [{ when: /.*/, steps: [{ text: 'Yes.' }] }] })
  using scratch = new Scratch('codex')
  const skein = new Skein(scratch, codex.setUp(scratch, server))
  const slow = '\n[mcp_servers.slow]\ncommand = "sleep"\nargs = ["4"]\n'
  appendFileSync(scratch.path('home/.codex/config.toml'), slow)
  await skein.run('group', 'create', 'web')
  await skein.run('start', '.', '--agent', 'web/worker', '--tool', 'codex')
  const warnings = async (): Promise<number> => {
    const { text } = await skein.run('output', 'web/worker', '--screen')
    return Number(/⚠ (\d+) warning/.exec(String(text))?.[1] ?? 0)
  }
  await skein.listed('web/worker', { status: 'idle' }) // on a busy machine it is still starting
  await sleep(1_000) // it draws its own warnings, long before the servers end
  const before = await warnings()
  const seen = new Set<unknown>()
  for (const end = performance.now() + 60_000; (await warnings()) === before; await sleep(100)) {
    seen.add((await skein.agent('web/worker')).status)
    if (performance.now() > end) throw new Error('its servers never ended')
  }
  expect([...seen]).toEqual(['idle'])
  expect(await skein.agent('web/worker')).toMatchObject({ status: 'idle' })
})
