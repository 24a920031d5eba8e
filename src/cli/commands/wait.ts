import type { AgentView } from '../../lifecycle/index.js'
import { formatDuration, msOf, SkeinError } from '../../model/index.js'
import { choice, defaulted, duration, flag, optional } from '../../operations/index.js'
import { command } from '../command.js'
import { doAll, isUp, MANY_AGENTS, MANY_OPTIONS, selectAgents } from '../input/many-agents.js'
import { safe } from '../screen/safe-text.js'

export const wait = command({
  name: 'wait',
  summary: 'Wait until agents are done',
  description:
    '`done`: it no longer works: it has finished, asks something, or has failed. `idle`: it has finished. `waiting`: it waits for you. Of several agents it waits for all, or with --any for the first. Exit code 1 when the time is over or an agent has ended.',
  examples: [
    ['skein wait web/demo --until idle --timeout 1m', 'Until it has finished'],
    ['skein wait --group web --any', 'Until the first of a group is done'],
  ],
  args: MANY_AGENTS,
  options: {
    ...MANY_OPTIONS,
    any: flag('Until the first of them, rather than all'),
    until: defaulted(choice('state', ['done', 'idle', 'waiting']), 'done', 'What to wait for'),
    timeout: optional(duration, 'How long to wait at most'),
  },
  async run({ any, until, timeout, ...given }, cli) {
    const { agents: selected, isOne } = await selectAgents(given, cli, { usage: 'skein wait', wants: isUp })
    const agents = await cli.agents()
    const first = new AbortController()
    const signal = AbortSignal.any([cli.interrupted(), first.signal])
    const limit = timeout === undefined ? {} : { timeoutMs: timeout }
    const waitFor = (id: string): Promise<AgentView> => agents.wait(id, { until, ...limit, signal })
    const describe = ({ address, since, status, reason, waiting_for, source }: AgentView): string =>
      safe`${address} is ${status} for ${formatDuration(cli.out.screen.nowMs - msOf(since))}: ${reason ?? waiting_for ?? source}`
    const [only] = selected
    if (isOne && only) {
      const agent = await waitFor(only.id)
      return cli.out.result(agent, () => describe(agent))
    }
    const jobs = selected.map(({ id, address }) => ({
      agent: address,
      run: async () => {
        try {
          return await waitFor(id)
        } catch (error) {
          const isCut = first.signal.aborted && error instanceof SkeinError && error.code === 'timed-out'
          if (isCut) return undefined // another was first
          throw error
        } finally {
          if (any) first.abort()
        }
      },
    }))
    const { done, ...rest } = await doAll(jobs, cli, (agent) => (agent ? describe(agent) : ''), jobs.length)
    cli.out.result({ agents: done.filter((agent) => agent !== undefined), ...rest }, () => '')
    if (jobs.length === 0 && !cli.out.json) cli.out.note('No agent runs there')
  },
})
