import { agentsSpawn, optional, text } from '../../operations/index.js'
import { ENV_FILE, LAUNCH_OPTIONS, launchOf } from '../input/agent-launch.js'
import { operationCommand } from '../operation-command.js'
import { safe } from '../screen/safe-text.js'

export const spawn = operationCommand(agentsSpawn, {
  name: 'spawn',
  description: 'Lets you give it work before it runs; skein start <agent> starts it.',
  examples: [
    ['skein spawn . --agent web/baker --tool claude --model opus --work wk-42', 'An agent for a unit of work'],
  ],
  args: ['where'],
  fields: { cwd: undefined },
  own: { where: optional(text('directory', 'directory'), 'Its working directory'), ...ENV_FILE },
  order: Object.keys(LAUNCH_OPTIONS) as (keyof typeof LAUNCH_OPTIONS)[],
  async prepare({ where, ...given }, cli) {
    const { env = {}, args: arg = [], mcp = [], ...launch } = await launchOf(where, given, cli)
    const assignments = Object.entries(env).map(([name, value]) => `${name}=${value}`)
    return { ...launch, env: assignments, arg: [...arg], mcp: [...mcp] }
  },
  view: (agent) => safe`Created ${agent.address}. Start it: skein start ${agent.address}`,
})
