import { required, text } from '../../../operations/index.js'
import { command } from '../../command.js'
import { configOf, programCard, programRow, rulesDocument } from '../../views/program-view.js'

export const show = command({
  name: 'tool show',
  summary: 'Show how a tool is run and how its screen is read',
  description:
    'Replace the rules for its screen with your own file: patterns/<tool>.toml or .json beside config.toml. Values of variables are never shown.',
  examples: [
    ['skein tool show claude', 'A built-in tool'],
    ['skein tool show vibe', 'Your own tool'],
  ],
  args: { tool: required(text('tool'), 'Its name') },
  options: {},
  async run({ tool }, { out, home }) {
    const { programs } = await home()
    const [runners, environment] = await Promise.all([programs.runners(), programs.environment()])
    const runner = runners.named(tool)
    const row = programRow(runner, runners, environment)
    const own = runners.definitionOf(tool)
    const rules = runners.rulesOf(tool)
    const document = { ...row, ...(own ? { config: configOf(own) } : {}), screen: rulesDocument(rules) }
    out.result(document, (screen) => programCard(row, runner.can, own, rules, screen))
  },
})
