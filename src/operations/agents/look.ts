import type { AgentView } from '../../lifecycle/index.js'
import { STATUSES, TROUBLES, WAITS } from '../../model/index.js'
import { flag, optional, required } from '../field.js'
import { choice, freeText, groupRef, text } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'
import { AGENT } from './agent-fields.js'

export const agentsWhy = operation({
  name: 'agents.why',
  does: 'reads',
  where: 'daemon',
  summary: 'Show the evidence behind a status',
  description: 'Shows what each source reports now, which one decided, and the history of the status from the journal.',
  input: { agent: AGENT },
  result: 'explanation',
  run: async ({ agent }, { agents }) => (await agents()).why(agent),
})

export const agentsOutput = operation({
  name: 'agents.output',
  does: 'reads',
  where: 'daemon',
  summary: "Print an agent's last reply",
  description: 'From the log of its conversation, or from its screen if there is no log.',
  input: { agent: AGENT, screen: flag('Print its screen instead') },
  result: 'agent-output',
  run: async ({ agent, screen }, { agents }) => (await agents()).output(agent, { screen }),
})

export interface StatusSummary {
  agents: number
  counts: Record<string, number>
  attention: AgentView[]
}

export const agentsStatus = operation({
  name: 'agents.status',
  does: 'reads',
  where: 'daemon',
  summary: 'Count agents by status',
  description: 'Also lists agents that wait for you or have failed.',
  input: { group: optional(groupRef, 'Only agents in this group or below', { aliases: ['rig'] }) },
  result: 'status-summary',
  run: async ({ group }, { live }) => summaryOf(await live.list(present({ group }))),
})

export function summaryOf(views: readonly AgentView[]): StatusSummary {
  const counts: Record<string, number> = {}
  for (const { status } of views) counts[status] = (counts[status] ?? 0) + 1
  const attention = views.filter(({ status }) => status === 'waiting' || status === 'error' || status === 'unknown')
  return { agents: views.length, counts, attention }
}

export const agentsNext = operation({
  name: 'agents.next',
  does: 'reads',
  where: 'daemon',
  summary: 'Find the agent that has waited for you longest',
  description: 'Agents that need an answer come first, then those that failed, then those that finished.',
  input: {},
  result: 'next',
  async run(_, { live }): Promise<{ agent?: AgentView }> {
    const agent = await live.next()
    return agent ? { agent } : {}
  },
})

export const agentsAttach = operation({
  name: 'agents.attach',
  does: 'reads',
  where: 'either',
  summary: 'Show the command that attaches to an agent',
  input: { agent: AGENT, tmux: optional(text('socket'), 'The tmux of the caller, as its $TMUX says it') },
  result: 'attach-command',
  run: async ({ agent, tmux }, { agents }) => ({
    command: await (await agents()).attachCommand(agent, present({ tmux })),
  }),
})

export const agentsReport = operation({
  name: 'agents.report',
  does: 'acts',
  where: 'daemon',
  summary: 'Report what an agent is doing (for programs)',
  description: 'For your own tools and extensions. A report holds until newer evidence contradicts it.',
  input: {
    agent: AGENT,
    state: required(choice('state', STATUSES), 'Its status'),
    waiting_for: optional(choice('wait', WAITS), 'With `waiting`: what for'),
    trouble: optional(choice('trouble', TROUBLES), 'With `error`: which'),
    reason: optional(freeText('text'), 'Why, in a few words'),
  },
  result: 'running-agent',
  run: async ({ agent, state, waiting_for, trouble, reason }, { agents }) =>
    (await agents()).report(agent, {
      status: state,
      rule: 'skein report',
      ...present({ waiting_for, trouble, reason }),
    }),
})
