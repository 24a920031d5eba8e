import { optional, text } from '../../operations/index.js'
import { command } from '../command.js'
import { LAUNCH_OPTIONS, launchOf } from '../input/agent-launch.js'
import { safe } from '../screen/safe-text.js'

export const spawn = command({
  name: 'spawn',
  summary: 'Create an agent without starting it',
  description: 'So that it can be given work before it runs: skein start <agent> starts it then.',
  examples: [
    ['skein spawn . --agent web/baker --tool claude --model opus --work wk-42', 'An agent for a unit of work'],
  ],
  args: { where: optional(text('directory', 'directory'), 'Where it will work') },
  options: LAUNCH_OPTIONS,
  async run({ where, ...given }, cli) {
    const agent = await (await cli.agents()).spawn(await launchOf(where, given, cli))
    cli.out.result(agent, () => safe`Made ${agent.address}. Start it: skein start ${agent.address}`)
  },
})
