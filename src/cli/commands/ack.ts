import { command } from '../command.js'
import { answerWithReceipts, MANY_AGENTS, MANY_OPTIONS, selectAgents } from '../input/many-agents.js'
import { receiptView } from '../views/receipt-view.js'

export const ack = command({
  name: 'ack',
  summary: 'Mark finished replies and errors as seen',
  description:
    'The agent then counts as idle until its next reply, or as stopped when it has ended. A question is not answered by it. --group and --all take those that have finished or failed.',
  examples: [
    ['skein ack web/demo', 'I have seen it'],
    ['skein ack --all', 'I have seen all of them'],
  ],
  args: MANY_AGENTS,
  options: MANY_OPTIONS,
  async run(given, cli) {
    const { agents: selected, isOne } = await selectAgents(given, cli, {
      usage: 'skein ack',
      wants: ({ status, waiting_for }) => status === 'error' || (status === 'waiting' && waiting_for === 'finished'),
    })
    const agents = await cli.agents()
    const jobs = selected.map(({ id, address }) => ({ agent: address, run: () => agents.ack(id) }))
    const [only] = jobs
    if (!isOne || !only) return answerWithReceipts(jobs, cli, 'Nothing to acknowledge there')
    const receipt = await only.run()
    cli.out.result(receipt, () => receiptView(receipt))
  },
})
