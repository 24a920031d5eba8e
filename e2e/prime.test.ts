import { describe, expect, it } from 'vitest'
import { objectAt } from '../src/tools/json-value.js'
import { REAL_TOOLS } from './tools/index.js'
import { User } from './user.js'

const AGENT = 'web/worker'

describe.each(REAL_TOOLS)('an agent that runs $name $version', (tool) => {
  it('gets who it is and what is on its hook in the first request to the model, once', async () => {
    await using user = await User.of([tool])
    const { skein, server } = user
    await skein.run('group', 'create', 'web')
    await skein.run('spawn', '.', '--agent', AGENT, '--tool', tool.name)
    await skein.run('work', 'add', 'Mend the login', '--agent', AGENT)
    const started = await skein.run('start', AGENT)
    const session = objectAt(started, 'agent')?.session_id
    await skein.listed(AGENT, { status: 'idle', session_id: session }, 60_000)
    expect(await skein.run('send', AGENT, 'hello', '--wait', '--timeout', '110s')).toMatchObject({ reply: 'Gladly.' })
    const [first] = server.requests
    const read = first?.read ?? ''
    expect(read.split(`Skein: You are the agent ${AGENT} (session: ${session}`)).toHaveLength(2)
    expect(read).toMatch(/Your hook holds:\n- work \S+ \(hooked\): Mend the login/)
    expect(read).toContain('Begin with the work on your hook now. Do not wait for instructions.')
    expect(first?.prompts).toEqual(['hello'])
    expect((await skein.run('prime', '--agent', AGENT, '--state')).state).toBe('autonomous')
  })
})
