import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { objectAt } from '../src/tools/json-value.js'
import { ModelServer } from './model-server/model-server.js'
import { Scratch } from './scratch.js'
import { Skein } from './skein.js'
import { REAL_TOOLS } from './tools/index.js'

const AGENT = 'web/worker'

describe.each(REAL_TOOLS)('an agent that runs $name $version', (tool) => {
  let scratch: Scratch
  let server: ModelServer
  let skein: Skein
  let session: unknown

  beforeAll(async () => {
    server = await ModelServer.start({ rules: [{ when: /.*/, steps: [{ text: 'Gladly.' }] }] })
    scratch = new Scratch(tool.name)
    skein = new Skein(scratch, tool.setUp(scratch, server))
    await skein.run('group', 'create', 'web')
  })
  afterAll(async () => {
    scratch?.[Symbol.dispose]()
    await server?.[Symbol.asyncDispose]()
  })

  it('is told who it is and what is on its hook in the first request to the model', async () => {
    await skein.run('spawn', '.', '--agent', AGENT, '--tool', tool.name)
    await skein.run('work', 'add', 'Mend the login', '--agent', AGENT)
    const started = await skein.run('start', AGENT)
    session = objectAt(started, 'agent')?.session_id
    await skein.listed(AGENT, { status: 'idle', session_id: session }, 60_000)
    expect(await skein.run('send', AGENT, 'hello', '--wait', '--timeout', '60s')).toMatchObject({ reply: 'Gladly.' })
    const [first] = server.requests
    expect(first?.read).toContain(`Skein: You are the agent ${AGENT} (session: ${session}`)
    expect(first?.read).toMatch(/Your hook holds:\n- work \S+ \(hooked\): Mend the login/)
    expect(first?.read).toContain('Begin with the work on your hook now. Do not wait for instructions.')
    expect(first?.prompts).toEqual(['hello'])
    expect((await skein.run('prime', '--agent', AGENT, '--state')).state).toBe('autonomous')
  })
})
