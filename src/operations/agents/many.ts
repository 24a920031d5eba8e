import type { AgentView, Receipt } from '../../lifecycle/index.js'
import { SkeinError } from '../../model/index.js'
import { duration } from '../duration.js'
import { defaulted, flag, optional } from '../field.js'
import { choice } from '../kind.js'
import { operation } from '../operation.js'
import { doEach, type Failure } from './each.js'
import { isUp, MANY_AGENTS, selectAgents } from './selection.js'

export interface Receipts {
  receipts: Receipt[]
  failures?: Failure[]
}

export const agentsStop = operation({
  name: 'agents.stop',
  does: 'acts',
  where: 'daemon',
  summary: 'Stop agents gracefully',
  description:
    'Interrupts each agent, asks it to exit, and ends its processes if it does not. Its conversation can be resumed. Several agents are stopped in parallel, with one receipt each; exit code 1 if any of them failed.',
  input: { ...MANY_AGENTS, grace: optional(duration, 'How long it may take to exit', { fallback: '8s' }) },
  result: 'receipts',
  async run({ grace, ...given }, context): Promise<Receipts> {
    const { agents: selected, isOne } = await selectAgents(given, context, { usage: 'skein stop', wants: isUp })
    const agents = await context.agents()
    const stop = (id: string): Promise<Receipt> => agents.stop(id, grace === undefined ? {} : { graceMs: grace })
    return receiptsOf(selected, isOne, stop)
  },
})

export const agentsKill = operation({
  name: 'agents.kill',
  does: 'acts',
  where: 'daemon',
  summary: 'Kill agents at once',
  description:
    "Ends the agent's own processes and no others. What it was doing is lost; its conversation can be resumed. Several agents are killed in parallel, with one receipt each; exit code 1 if any of them failed.",
  input: MANY_AGENTS,
  result: 'receipts',
  async run(given, context): Promise<Receipts> {
    const { agents: selected, isOne } = await selectAgents(given, context, { usage: 'skein kill', wants: isUp })
    const agents = await context.agents()
    return receiptsOf(selected, isOne, (id) => agents.kill(id))
  },
})

export const agentsSleep = operation({
  name: 'agents.sleep',
  does: 'acts',
  where: 'daemon',
  summary: 'Put idle agents to sleep, to free their memory',
  description:
    'Ends the processes of an agent and keeps its conversation. `skein send`, `skein attach` and `skein wake` bring it back in it. Refused for an agent that works, asks something, has unsent text or work in the background, or is shown in a terminal. --group and --all select idle agents. By rule: `[hibernate] after`, or `hibernate_after` of a role.',
  input: MANY_AGENTS,
  result: 'receipts',
  async run(given, context): Promise<Receipts> {
    const { agents: selected, isOne } = await selectAgents(given, context, {
      usage: 'skein sleep',
      wants: ({ status, waiting_for }) => status === 'idle' || waiting_for === 'finished',
    })
    const agents = await context.agents()
    return receiptsOf(selected, isOne, (id) => agents.sleep(id))
  },
})

export const agentsWake = operation({
  name: 'agents.wake',
  does: 'acts',
  where: 'daemon',
  summary: 'Wake agents that are asleep',
  description: 'Each is started as it was, in its conversation. Agents that are not asleep are left as they are.',
  input: MANY_AGENTS,
  result: 'receipts',
  async run(given, context): Promise<Receipts> {
    const { agents: selected, isOne } = await selectAgents(given, context, {
      usage: 'skein wake',
      wants: ({ status }) => status === 'asleep',
    })
    const agents = await context.agents()
    return receiptsOf(selected, isOne, (id) => agents.wake(id))
  },
})

export const agentsAck = operation({
  name: 'agents.ack',
  does: 'acts',
  where: 'daemon',
  summary: 'Mark finished replies and errors as seen',
  description:
    'The agent is then idle until its next reply, or stopped if it has ended. This does not answer a question. --group and --all select agents that have finished or failed.',
  input: MANY_AGENTS,
  result: ['receipt', 'receipts'],
  async run(given, context): Promise<Receipt | Receipts> {
    const { agents: selected, isOne } = await selectAgents(given, context, {
      usage: 'skein ack',
      wants: ({ status, waiting_for }) => status === 'error' || (status === 'waiting' && waiting_for === 'finished'),
    })
    const agents = await context.agents()
    const [only] = selected
    return isOne && only ? agents.ack(only.id) : receiptsOf(selected, false, (id) => agents.ack(id))
  },
})

export interface Waited {
  agents: AgentView[]
  failures?: Failure[]
}

export const agentsWait = operation({
  name: 'agents.wait',
  does: 'reads',
  where: 'either',
  summary: 'Wait until agents are done',
  description:
    '`done`: the agent is no longer working: it has finished, asks something, or has failed. `idle`: it has finished. `waiting`: it waits for you. With several agents it waits for all, or with --any for the first. Exits with 1 on timeout or if an agent has ended.',
  input: {
    ...MANY_AGENTS,
    any: flag('Return with the first of them instead of all'),
    until: defaulted(choice('state', ['done', 'idle', 'waiting']), 'done', 'What to wait for'),
    timeout: optional(duration, 'How long to wait at most'),
  },
  result: ['running-agent', 'waited'],
  async run({ any, until, timeout, ...given }, context): Promise<AgentView | Waited> {
    const { agents: selected, isOne } = await selectAgents(given, context, { usage: 'skein wait', wants: isUp })
    const agents = await context.agents()
    const first = new AbortController()
    const signal = AbortSignal.any([context.abandoned(), first.signal])
    const limit = timeout === undefined ? {} : { timeoutMs: timeout }
    const waitFor = (id: string): Promise<AgentView> => agents.wait(id, { until, ...limit, signal })
    const [only] = selected
    if (isOne && only) return waitFor(only.id)
    const jobs = selected.map(({ id, address }) => ({
      agent: address,
      run: async () => {
        try {
          return await waitFor(id)
        } catch (error) {
          const isCut = first.signal.aborted && error instanceof SkeinError && error.code === 'interrupted'
          if (isCut) return undefined // another was first
          throw error
        } finally {
          if (any) first.abort()
        }
      },
    }))
    const { done, ...rest } = await doEach(jobs, { atOnce: jobs.length })
    return { agents: done.filter((agent) => agent !== undefined), ...rest }
  },
})

/** What is done for one agent that was named either succeeds or throws. */
async function receiptsOf(
  selected: readonly { readonly id: string; readonly address: string }[],
  isOne: boolean,
  act: (id: string) => Promise<Receipt>,
): Promise<Receipts> {
  const [only] = selected
  if (isOne && only) return { receipts: [await act(only.id)] }
  const { done: receipts, ...rest } = await doEach(
    selected.map(({ id, address }) => ({ agent: address, run: () => act(id) })),
  )
  return { receipts, ...rest }
}
