import type { Home } from '../home/index.js'
import { type AgentId, type Event, isSoundRecord } from '../model/index.js'
import { type AgentRun, type Binding, readAgentRun } from './agent-run.js'

/** What the journal still tells of how an agent ran last: enough to find its pane and to resume its conversation. */
export async function agentRunFromJournal(home: Home, id: AgentId): Promise<AgentRun | undefined> {
  const started = (await ofAgent(home, id, 'agent_started')).findLast(({ payload }) =>
    isSoundRecord('agent_started', payload),
  )
  if (!started) return undefined
  const { recipe, run, binding } = started.payload
  const hasStopped = (await ofAgent(home, id, 'agent_stopped')).some((event) => event.id > started.id)
  const bound = (await ofAgent(home, id, 'identity_*')).findLast(
    (event) => event.id > started.id && isSoundBinding(event),
  )
  const status = { status: hasStopped ? 'stopped' : 'starting', since: started.ts, source: 'process' }
  const now = bound ? bindingOf(bound) : binding
  const text = JSON.stringify({ v: 1, agent: id, recipe, ...(hasStopped ? {} : { run }), binding: now, status })
  return readAgentRun(text, 'journal')
}

/** Whether the journal has the start of a run. */
export const hasStarted = async (home: Home, id: AgentId, run: string): Promise<boolean> =>
  (await ofAgent(home, id, 'agent_started')).some(({ payload }) => (payload.run as { id?: unknown })?.id === run)

async function ofAgent(home: Home, id: AgentId, type: string): Promise<Event[]> {
  return (await home.events.read({ type })).filter(({ payload }) => payload.agent_id === id)
}

function isSoundBinding({ type, payload }: Event): boolean {
  return (type === 'identity_bind' || type === 'identity_rebind') && isSoundRecord(type, payload)
}

function bindingOf({ payload, ts }: Event): Omit<Binding, 'session' | 'how'> & Record<string, unknown> {
  const { session, how, log } = payload
  return { session, how, since: ts, is_confirmed: true, ...(typeof log === 'string' ? { log } : {}) }
}
