import { duration, optional } from '../../operations/index.js'
import { command } from '../command.js'
import { answerWithReceipts, isUp, MANY_AGENTS, MANY_OPTIONS, selectAgents } from '../input/many-agents.js'
import { receiptView } from '../views/receipt-view.js'

export const stop = command({
  name: 'stop',
  summary: 'Stop agents gracefully',
  description:
    'Interrupts each agent, asks it to leave, and ends its own processes if it does not. Its conversation can be resumed. Several agents are stopped in parallel, with one receipt each; exit code 1 if any of them failed.',
  examples: [
    ['skein stop web/demo', 'Stop one'],
    ['skein stop web/demo kitchen/knife', 'Stop several'],
    ['skein stop --group web', 'Stop those of a group that run'],
  ],
  args: MANY_AGENTS,
  options: { ...MANY_OPTIONS, grace: optional(duration, 'How long it may take to leave', { fallback: '8s' }) },
  async run({ grace, ...given }, cli) {
    const { agents: selected, isOne } = await selectAgents(given, cli, { usage: 'skein stop', wants: isUp })
    const agents = await cli.agents()
    const jobs = selected.map(({ id, address }) => ({
      agent: address,
      run: () => agents.stop(id, grace === undefined ? {} : { graceMs: grace }),
    }))
    const [only] = jobs
    if (!isOne || !only) return answerWithReceipts(jobs, cli, 'No agent runs there')
    const receipt = await only.run()
    cli.out.result({ receipts: [receipt] }, () => receiptView(receipt))
  },
})
