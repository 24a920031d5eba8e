import { command } from '../../command.js'
import { programRow, programTable } from '../../views/program-view.js'

export const list = command({
  name: 'tool list',
  summary: 'List the agent programs that can be run',
  description: 'Describe your own tools in config.toml, as [tools.<name>].',
  examples: [['skein tool list', 'Every tool, whether it is installed, and what it can do']],
  args: {},
  options: {},
  async run(_, { out, home }) {
    const { programs } = await home()
    const [runners, environment] = await Promise.all([programs.runners(), programs.environment()])
    const tools = runners.all.map((runner) => programRow(runner, runners, environment))
    out.result({ tools }, (screen) =>
      programTable(
        tools.map((row, at) => ({ ...row, abilities: (runners.all[at] ?? runners.named(row.name)).can })),
        screen,
      ),
    )
  },
})
