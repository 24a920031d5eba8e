import { repeated, text } from '../../../operations/index.js'
import { command } from '../../command.js'
import { chosenHooks } from './chosen-hooks.js'
import { reportHooks } from './report-hooks.js'

export const install = command({
  name: 'hooks install',
  summary: "Put Skein's hooks into your own settings of the agent programs",
  description:
    'For agents that you start yourself: Skein records their sessions from the beginning and gives them the same context as its own agents. Agents that Skein starts need no installed hooks. Each settings file is edited in place, and a copy of it is kept beside it. Without a name, all programs that you use.',
  examples: [
    ['skein hooks install claude', 'For Claude Code'],
    ['skein hooks install claude gemini --json', 'For two programs, for scripts'],
  ],
  args: { tools: repeated(text('tool'), 'A program: claude, codex, gemini, opencode, pi') },
  options: {},
  async run({ tools }, cli) {
    const { hooks, chosen } = await chosenHooks(cli, tools, 'used')
    const reports = []
    for (const runner of chosen) {
      const report = await hooks.install(runner)
      reports.push(report)
      const isNew = report.did === 'installed' || report.did === 'updated'
      if (isNew && runner.install?.kind === 'settings' && runner.install.next) cli.out.note(runner.install.next)
    }
    reportHooks(reports, cli.out)
  },
})
