import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { isObject, type JsonObject, listAt, textAt } from '../src/tools/json-value.js'
import { ModelServer } from './model-server/model-server.js'
import { Pane } from './pane.js'
import { Scratch } from './scratch.js'
import { Skein } from './skein.js'
import { claude } from './tools/claude.js'

it('sessions run outside are active while a program has them open, and over soon after: claude', async () => {
  await using server = await ModelServer.start({
    rules: [{ when: /hello/, steps: [{ text: 'Hello from the model.' }] }],
  })
  using scratch = new Scratch('outside')
  const env = claude.setUp(scratch, server)
  const skein = new Skein(scratch, env)
  const pane = new Pane(scratch, { argv: claude.argv, env })
  await pane.shows(claude.ready)
  await pane.submit('hello there')
  await pane.shows(/Hello from the model\./)
  const once = randomUUID()
  const { stdout } = await promisify(execFile)('claude', ['-p', 'hello once', '--session-id', once], {
    env,
    cwd: scratch.project,
  })
  expect(stdout).toContain('Hello from the model.')

  const sessions = async (): Promise<JsonObject[]> => {
    await skein.run('ingest')
    return listAt(await skein.run('sessions', 'list'), 'sessions').filter(isObject)
  }
  const named = async (id: string | undefined): Promise<JsonObject | undefined> =>
    (await sessions()).find((one) => textAt(one, 'id') === id)
  const open = (await sessions()).find((one) => textAt(one, 'id') !== once)
  expect(open).toMatchObject({ source: 'log' })

  // It ran for a second and is over once its log has been still for a moment; the one at its prompt stays open.
  for (;;) {
    const ended = await named(once)
    if (ended?.outcome) {
      expect(ended).toMatchObject({ outcome: 'exit', reason: 'no process has it open' })
      break
    }
    await sleep(2_000)
  }
  await sleep(5_000)
  expect(await named(textAt(open, 'id'))).not.toHaveProperty('outcome')
  await pane.submit('/exit')
  while (!(await named(textAt(open, 'id')))?.outcome) await sleep(2_000)
})
