import { command } from '../command.js'
import { environmentOf, FORCE_START, LAUNCH_OPTIONS } from '../input/agent-launch.js'
import { flag, required } from '../input/input.js'
import { agentRef } from '../input/value-kind.js'
import { receiptView } from '../views/receipt-view.js'

export const restart = command({
  name: 'restart',
  summary: 'Start an agent again, in its conversation',
  description:
    'In the pane it had where that is still there, else in a new one, with the same arguments, rights and variables. A restart that fails does not lose the conversation.',
  examples: [
    ['skein restart web/demo', 'Go on where it was'],
    ['skein restart web/demo --fresh', 'Begin another conversation'],
  ],
  args: { agent: required(agentRef, 'Address, end of it, title, id, or . for here') },
  options: {
    fresh: flag('Begin a new conversation'),
    force: FORCE_START,
    env: LAUNCH_OPTIONS.env,
    'env-file': LAUNCH_OPTIONS['env-file'],
  },
  async run({ agent: reference, fresh, force, ...given }, cli) {
    const env = environmentOf(given, cli)
    const options = { fresh, force, ...(Object.keys(env).length > 0 ? { env } : {}) }
    const restarted = await (await cli.agents()).restart(reference, options)
    cli.out.result(restarted, () => receiptView(restarted))
  },
})
