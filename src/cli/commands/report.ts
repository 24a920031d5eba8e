import { STATUSES, TROUBLES, WAITS } from '../../model/index.js'
import { agentRef, choice, freeText, optional, present, required } from '../../operations/index.js'
import { command } from '../command.js'
import { safe } from '../screen/safe-text.js'

export const report = command({
  name: 'report',
  summary: 'Report what an agent is doing (for programs)',
  description:
    'For tools and extensions of your own that know better than the screen. What was reported holds until something newer contradicts it.',
  examples: [['skein report web/demo --state running --reason "runs the tests"', 'It is at work']],
  args: { agent: required(agentRef, 'Address, end of it, title, id, or . for here') },
  options: {
    state: required(choice('state', STATUSES), 'What it does'),
    'waiting-for': optional(choice('wait', WAITS), 'With `waiting`: what for'),
    trouble: optional(choice('trouble', TROUBLES), 'With `error`: which'),
    reason: optional(freeText('text'), 'Why, in a few words'),
  },
  async run({ agent: reference, state, 'waiting-for': waiting_for, trouble, reason }, { agents, out }) {
    const evidence = { status: state, rule: 'skein report', ...present({ waiting_for, trouble, reason }) }
    const agent = await (await agents()).report(reference, evidence)
    out.result(agent, () => safe`${agent.address} is ${agent.status} (${agent.source})`)
  },
})
