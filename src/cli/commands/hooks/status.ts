import { repeated, text } from '../../../operations/index.js'
import { command } from '../../command.js'
import { safe } from '../../screen/safe-text.js'
import { chosenHooks } from './chosen-hooks.js'
import { aboutFile } from './report-hooks.js'

export const status = command({
  name: 'hooks status',
  summary: "Show whether Skein's hooks are in your own settings",
  description: 'outdated: they lead to another Skein than this one; skein hooks install updates them.',
  examples: [
    ['skein hooks status', 'Of every program'],
    ['skein hooks status claude --json', 'Of one, for scripts'],
  ],
  args: { tools: repeated(text('tool'), 'A program: claude, codex, gemini, opencode, pi') },
  options: {},
  async run({ tools }, cli) {
    const { hooks, chosen } = await chosenHooks(cli, tools, 'all')
    const states = chosen.map((runner) => hooks.status(runner))
    cli.out.result({ hooks: states }, () =>
      states
        .map(({ tool, state, path, because }) => safe`${tool}: ${state}, ${because ? aboutFile(path, because) : path}`)
        .join('\n'),
    )
  },
})
