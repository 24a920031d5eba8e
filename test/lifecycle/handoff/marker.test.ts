import { expect, it } from 'vitest'
import { consumeHandoff, type HandoffKind } from '../../../src/lifecycle/handoff/marker.js'
import { AgentRuns } from '../../../src/lifecycle/index.js'
import { instantOf, parseSessionId } from '../../../src/model/index.js'
import { contextOf } from '../context.js'
import { workshop } from '../workshop.js'

const FROM = parseSessionId('aaaaaaaa-0000-4000-8000-000000000001')
const TO = parseSessionId('aaaaaaaa-0000-4000-8000-000000000002')

/** An agent whose file has a marker of this kind. */
async function marked(kind: HandoffKind) {
  const { home, agents, project } = await workshop()
  await agents.spawn({ agent: 'toast', cwd: project })
  const agent = await home.roster.agent('toast')
  const runs = new AgentRuns(home, contextOf([]))
  const handoff = { id: 'h1', from: FROM, to: TO, at: instantOf(0), step: 'respawned' as const, kind }
  await runs.update(agent, (current) => current && { next: { ...current, handoff }, result: undefined })
  return { agent, runs, handoff }
}

it('the marker of a handoff goes to the successor, once, and never to the session that hands off', async () => {
  const { agent, runs, handoff } = await marked('fresh')
  expect(await consumeHandoff({ runs }, agent, FROM)).toBeUndefined()
  expect(await consumeHandoff({ runs }, agent, FROM, 'compact')).toBeUndefined()
  const all = await Promise.all([1, 2, 3, 4].map(() => consumeHandoff({ runs }, agent, TO)))
  expect(all.filter((one) => one !== undefined)).toEqual([handoff])
  expect((await runs.read(agent.id))?.handoff).toBeUndefined()
})

it('a conversation that continues consumes its marker when its context was compacted or resumed, not before', async () => {
  for (const kind of ['cycle', 'auto'] as const) {
    const { agent, runs, handoff } = await marked(kind)
    expect(await consumeHandoff({ runs }, agent, FROM, 'startup')).toBeUndefined()
    expect(await consumeHandoff({ runs }, agent, FROM, 'compact')).toEqual(handoff)
    expect(await consumeHandoff({ runs }, agent, FROM, 'compact')).toBeUndefined()
  }
})
