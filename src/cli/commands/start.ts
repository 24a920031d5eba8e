import { command } from '../command.js'
import { FORCE_START, LAUNCH_OPTIONS, launchOf } from '../input/agent-launch.js'
import { flag, optional } from '../input/input.js'
import { freeText, text } from '../input/value-kind.js'
import { receiptView } from '../views/receipt-view.js'

export const start = command({
  name: 'start',
  summary: 'Start an agent',
  description:
    "In a tmux server of Skein's own, in the directory given or here. It is said to be started when it has been seen alive. An agent that exists is started as it was before, in the conversation it was in.",
  examples: [
    ['skein start . --agent web/demo --tool demo --group web', 'A new agent in this directory'],
    ['skein start web/demo --tool demo --prompt "hello" --json', 'One that exists, with something to do'],
  ],
  args: { where: optional(text('directory', 'directory'), 'Where it works, or an agent that exists') },
  options: {
    ...LAUNCH_OPTIONS,
    prompt: optional(freeText('text'), 'What to send it once it is ready'),
    force: FORCE_START,
    attach: flag('Go to its terminal'),
  },
  async run({ where, prompt, attach, force, ...given }, cli) {
    const agents = await cli.agents()
    const launch = await launchOf(where, given, cli)
    const started = await agents.start({ ...launch, force, ...(prompt === undefined ? {} : { prompt }) })
    const { agent, did, how, session } = started
    cli.out.result({ agent, did, how, ...(session ? { session } : {}) }, () => receiptView(started))
    if (attach && !cli.out.json) {
      await cli.handOver(await agents.attachCommand(agent.id, cli.tmux === undefined ? {} : { tmux: cli.tmux }))
    }
  },
})
