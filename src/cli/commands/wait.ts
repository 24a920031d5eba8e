import { formatDuration, msOf } from '../../model/index.js'
import { command } from '../command.js'
import { duration } from '../input/duration.js'
import { defaulted, optional, required } from '../input/input.js'
import { agentRef, choice } from '../input/value-kind.js'
import { safe } from '../screen/safe-text.js'

export const wait = command({
  name: 'wait',
  summary: 'Wait until an agent is done',
  description:
    '`done`: it no longer works: it has finished, asks something, or has failed. `idle`: it has finished. `waiting`: it waits for you. Ends with 1 when the time is over or the agent has ended.',
  examples: [['skein wait web/demo --until idle --timeout 1m', 'Until it has finished']],
  args: { agent: required(agentRef, 'Address, end of it, title, id, or . for here') },
  options: {
    until: defaulted(choice('state', ['done', 'idle', 'waiting']), 'done', 'What to wait for'),
    timeout: optional(duration, 'How long to wait at most'),
  },
  async run({ agent: reference, until, timeout }, cli) {
    const limit = timeout === undefined ? {} : { timeoutMs: timeout }
    const agent = await (await cli.agents()).wait(reference, { until, ...limit, signal: cli.interrupted() })
    cli.out.result(agent, ({ nowMs }) => {
      const age = formatDuration(nowMs - msOf(agent.since))
      return safe`${agent.address} is ${agent.status} since ${age}: ${agent.reason ?? agent.waiting_for ?? agent.source}`
    })
  },
})
