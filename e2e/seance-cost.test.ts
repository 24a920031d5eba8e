import { it } from 'vitest'
import { type JsonObject, objectAt } from '../src/tools/json-value.js'
import { ModelServer } from './model-server/model-server.js'
import { Scratch } from './scratch.js'
import { Skein } from './skein.js'
import { REAL_TOOLS } from './tools/index.js'

const AGENT = 'web/worker'
const isWanted = ({ name }: { name: string }): boolean =>
  Boolean(process.env.SKEIN_ALL_TOOLS) || ['claude', 'gemini'].includes(name)

it.concurrent.for(REAL_TOOLS.filter(isWanted))(
  'what $name spent before and after a seance is its own, and the seance has paid for its answer',
  { timeout: 300_000 },
  async (tool, { expect }) => {
    await using server = await ModelServer.start({ rules: [{ when: /.*/, steps: [{ text: 'It was 4711.' }] }] })
    using scratch = new Scratch(tool.name)
    const skein = new Skein(scratch, tool.setUp(scratch, server))
    scratch.write('skein/config.toml', '[daemon]\ningest = false\n[notify]\nby = []\n')
    await skein.run('start', '.', '--agent', AGENT, '--tool', tool.name)
    await skein.listed(AGENT, { status: 'idle' }, 60_000)
    const ask = (prompt: string) => skein.run('send', AGENT, prompt, '--wait', '--timeout', '60s')
    await ask('remember the number 4711')
    const session = String((await skein.agent(AGENT)).session_id)
    const talked = await skein.run('seance', 'talk', session, '--prompt', 'what was the number?')
    await ask('go on')
    const { rows } = await skein.run('cost', '--by', 'session')
    const calls = new Map((rows as JsonObject[]).map(({ key, calls }) => [key, calls]))
    const seance = String(objectAt(talked, 'agent')?.session_id)
    expect({ agent: calls.get(session), seance: calls.get(seance), all: calls.size }).toEqual({
      agent: 2,
      seance: 1,
      all: 2,
    })
    await skein.run('ingest')
    expect(await skein.run('archive', 'verify')).toMatchObject({ ok: true, problems: [] })
    const { turns } = await skein.run('turns', seance)
    expect((turns as JsonObject[]).at(-1)).toMatchObject({ prompt: 'what was the number?', reply: 'It was 4711.' })
  },
)
