import { flag, isUp, MANY_AGENTS, selectAgents } from '../../operations/index.js'
import { command } from '../command.js'
import { environmentOf, FORCE_START, LAUNCH_OPTIONS } from '../input/agent-launch.js'
import { receiptView } from '../views/receipt-view.js'
import { answerWithReceipts } from '../views/receipts-view.js'

export const restart = command({
  name: 'restart',
  summary: 'Restart agents, in their conversations',
  description:
    "Restarts in the agent's pane if it still exists, otherwise in a new one, with the same arguments, permissions and variables. A failed restart does not lose the conversation. Several agents are restarted in parallel, with one receipt each; exit code 1 if any of them failed. --group and --all skip stopped agents.",
  examples: [
    ['skein restart web/demo', 'Continue where it was'],
    ['skein restart web/demo --fresh', 'Begin another conversation'],
    ['skein restart --group web', 'Every agent of a group that is not stopped'],
  ],
  args: { agents: MANY_AGENTS.agents },
  options: {
    group: MANY_AGENTS.group,
    all: MANY_AGENTS.all,
    fresh: flag('Begin a new conversation'),
    force: FORCE_START,
    env: LAUNCH_OPTIONS.env,
    'env-file': LAUNCH_OPTIONS['env-file'],
  },
  async run({ agents: named, group, all, fresh, force, ...given }, cli) {
    const env = environmentOf(given, cli)
    const wanted = { agents: named, group, all }
    const { agents: selected, isOne } = await selectAgents(wanted, cli, { usage: 'skein restart', wants: isUp })
    const options = { fresh, force, ...(Object.keys(env).length > 0 ? { env } : {}) }
    const agents = await cli.agents()
    const jobs = selected.map(({ id, address }) => ({ agent: address, run: () => agents.restart(id, options) }))
    const [only] = jobs
    if (!isOne || !only) return answerWithReceipts(jobs, cli, 'No agent runs there')
    const restarted = await only.run()
    cli.out.result(restarted, () => receiptView(restarted))
  },
})
