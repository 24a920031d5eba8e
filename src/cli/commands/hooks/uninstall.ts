import { repeated, text } from '../../../operations/index.js'
import { command } from '../../command.js'
import { chosenHooks } from './chosen-hooks.js'
import { reportHooks } from './report-hooks.js'

export const uninstall = command({
  name: 'hooks uninstall',
  summary: "Remove Skein's hooks from your own settings",
  description:
    'A file that was not edited since is restored byte for byte. Of a file that you have edited since, only the hooks of Skein are removed.',
  examples: [
    ['skein hooks uninstall', 'Everywhere'],
    ['skein hooks uninstall claude', 'Only from Claude Code'],
  ],
  args: { tools: repeated(text('tool'), 'A program: claude, codex, gemini, opencode, pi') },
  options: {},
  async run({ tools }, cli) {
    const { hooks, chosen } = await chosenHooks(cli, tools, 'all')
    const reports = []
    for (const runner of chosen) reports.push(await hooks.uninstall(runner))
    reportHooks(reports, cli.out)
  },
})
