import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type JsonObject, listAt, objectAt } from '../src/tools/json-value.js'
import { ModelServer } from './model-server/model-server.js'
import { Scratch } from './scratch.js'
import { Skein, until } from './skein.js'
import { REAL_TOOLS } from './tools/index.js'

const AGENT = 'web/worker'
const REMEMBER = 'remember the number 4711'

/** Agents that die in the middle of a turn, and come back in the conversation they had. Each test goes on where the one before ended. */
describe.each(REAL_TOOLS)('an agent that runs $name $version', (tool) => {
  let scratch: Scratch
  let server: ModelServer
  let skein: Skein
  let session: string

  const configure = (respawn: string): void => {
    const config = `[daemon]\ningest = false\n[notify]\nby = []\n[recover]\nspacing = 0\n[watchdog]\nrespawn = "${respawn}"\nbackoff = "1s"\n`
    scratch.write('skein/config.toml', config)
  }
  const killTmux = (): void => {
    const server = execFileSync('tmux', ['-S', scratch.path('skein/tmux.sock'), 'display-message', '-p', '#{pid}'])
    process.kill(Number(server), 'SIGKILL')
  }
  const asked = (prompt: string) => server.requests.filter((one) => one.prompt === prompt)
  const ask = async (question: string) => {
    const sent = await skein.run('send', AGENT, question, '--wait', '--timeout', '60s')
    expect(sent).toMatchObject({ reply: 'It was 4711.' })
    expect(asked(question)).toHaveLength(1)
    return asked(question)[0]
  }

  beforeAll(async () => {
    server = await ModelServer.start({
      rules: [
        { when: /^remember/, steps: [{ text: 'I will remember it.' }] },
        { when: /^think/, steps: [{ gate: 'thinking', text: 'I have thought.' }] },
        { when: /^ponder/, steps: [{ gate: 'pondering', text: 'I have pondered.' }] },
        { when: /.*/, steps: [{ text: 'It was 4711.' }] },
      ],
    })
    scratch = new Scratch(tool.name)
    skein = new Skein(scratch, tool.setUp(scratch, server))
    configure('never')
    await skein.run('group', 'create', 'web')
  })
  afterAll(async () => {
    scratch?.[Symbol.dispose]()
    await server?.[Symbol.asyncDispose]()
  })

  it('recover brings it back after its tmux server was killed in the middle of a turn', async () => {
    const started = await skein.run('start', '.', '--agent', AGENT, '--tool', tool.name)
    session = String(objectAt(started, 'agent')?.session_id)
    await skein.listed(AGENT, { status: 'idle', session_id: session }, 60_000)
    await skein.run('send', AGENT, REMEMBER, '--wait', '--timeout', '60s')
    await skein.run('send', AGENT, 'think about it')
    await server.arrival('thinking')
    const { pid } = await skein.agent(AGENT)
    killTmux()
    await skein.listed(AGENT, { status: 'error' })
    const { receipts } = await skein.run('recover')
    expect(receipts).toMatchObject([{ agent: { address: AGENT }, outcome: 'resumed', session_id: session }])
    await skein.listed(AGENT, { status: 'idle', session_id: session }, 60_000)
    expect((await skein.agent(AGENT)).pid).not.toBe(pid)
    const last = await ask('what was the number?')
    expect(last?.prompts.filter((one) => one === REMEMBER)).toHaveLength(1)
    expect(await skein.agent(AGENT)).toMatchObject({ session_id: session })
    expect(listAt(await skein.run('recover'), 'receipts')).toEqual([])
  })

  it('the watchdog starts it again after kill -9 in the middle of a turn, and it is told what happened', async () => {
    configure('on-crash')
    await skein.run('send', AGENT, 'ponder about it')
    await server.arrival('pondering')
    const { pid } = await skein.agent(AGENT)
    process.kill(Number(pid), 'SIGKILL')
    await until('it runs again', async () => {
      const now = await skein.agent(AGENT)
      return now.pid !== undefined && now.pid !== pid && now.status === 'idle'
    }, 60_000)
    expect(await skein.agent(AGENT)).toMatchObject({ session_id: session })
    const last = await ask('what was the number again?')
    expect(last?.prompts.filter((one) => one === REMEMBER)).toHaveLength(1)
    expect(last?.read).toContain('Recovery: your process ended unexpectedly')
    const deaths = (await skein.events('session_death')).map(({ payload }) => payload)
    expect(deaths).toHaveLength(2)
    expect(deaths.at(-1)).toMatchObject({ session, agent: AGENT, how: 'crashed', signal: 9, reason: 'killed by signal 9' })
    expect(listAt(deaths.at(-1) as JsonObject, 'screen').join('\n')).toContain('ponder about it')
  })
})
