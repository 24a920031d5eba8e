import { command } from '../command.js'
import { answerWithReceipts, isUp, MANY_AGENTS, MANY_OPTIONS, selectAgents } from '../input/many-agents.js'
import { receiptView } from '../views/receipt-view.js'

export const kill = command({
  name: 'kill',
  summary: 'Kill agents at once',
  description:
    "Ends the agent's own processes and no others. What it was doing is lost; its conversation can be resumed. Several agents are killed in parallel, with one receipt each; exit code 1 if any of them failed.",
  examples: [
    ['skein kill web/demo', 'Kill one'],
    ['skein kill --all', 'Kill every agent that runs'],
  ],
  args: MANY_AGENTS,
  options: MANY_OPTIONS,
  async run(given, cli) {
    const { agents: selected, isOne } = await selectAgents(given, cli, { usage: 'skein kill', wants: isUp })
    const agents = await cli.agents()
    const jobs = selected.map(({ id, address }) => ({ agent: address, run: () => agents.kill(id) }))
    const [only] = jobs
    if (!isOne || !only) return answerWithReceipts(jobs, cli, 'No agent runs there')
    const receipt = await only.run()
    cli.out.result({ receipts: [receipt] }, () => receiptView(receipt))
  },
})
