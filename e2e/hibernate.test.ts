import { expect, it } from 'vitest'
import { lifeOf } from '../src/disk/index.js'
import { objectAt } from '../src/tools/json-value.js'
import { ModelServer } from './model-server/model-server.js'
import { Scratch } from './scratch.js'
import { Skein } from './skein.js'
import { claude } from './tools/claude.js'

it('an agent that was put to sleep is woken by a prompt, in its conversation, and is given the prompt once: claude', async () => {
  await using server = await ModelServer.start({
    rules: [
      { when: /^remember/, steps: [{ text: 'I will remember it.' }] },
      { when: /.*/, steps: [{ text: 'It was 4711.' }] },
    ],
  })
  using scratch = new Scratch('hibernate')
  const skein = new Skein(scratch, claude.setUp(scratch, server))
  await skein.run('start', '.', '--agent', 'web/toast', '--tool', 'claude')
  await skein.listed('web/toast', { status: 'idle' }, 60_000)
  await skein.run('send', 'web/toast', 'remember the number 4711', '--wait', '--timeout', '60s')
  const before = objectAt(await skein.run('why', 'web/toast'), 'agent') ?? {}
  expect(before).toMatchObject({ heartbeat: { last_command: expect.stringMatching(/^(hook:|log)/) } })
  await skein.run('sleep', 'web/toast')
  await skein.listed('web/toast', { status: 'asleep', session_id: before.session_id }, 10_000)
  expect(lifeOf({ pid: Number(before.pid) })).toBe('dead')
  expect(await skein.run('recover')).toMatchObject({ receipts: [] })

  const sent = await skein.run('send', 'web/toast', 'what was the number?', '--wait', '--timeout', '60s')
  expect(sent).toMatchObject({ reply: 'It was 4711.', agent: { session_id: before.session_id } })
  expect(server.requests.at(-1)?.prompts).toEqual(['remember the number 4711', 'what was the number?'])
  const asked = server.requests.filter(({ prompts }) => prompts.at(-1) === 'what was the number?')
  expect(asked).toHaveLength(1)
})
