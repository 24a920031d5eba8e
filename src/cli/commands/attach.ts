import { agentRef, flag, required } from '../../operations/index.js'
import { command } from '../command.js'
import { visit } from '../visit.js'

export const attach = command({
  name: 'attach',
  summary: "Go to an agent's terminal",
  description:
    'Leave it again with C-q; the agent goes on. What it has finished counts as seen. Inside another tmux it opens as a window of that one. Without a terminal, and with --print or --json, it prints the command instead.',
  examples: [['skein attach web/demo --print', 'How to get there']],
  args: { agent: required(agentRef, 'Address, end of it, title, id, or . for here') },
  options: { print: flag('Print the command, and stay here') },
  async run({ agent, print }, cli) {
    const { agents, out, tmux } = cli
    if (!print && !out.json && (await visit(agent, cli))) return
    const argv = await (await agents()).attachCommand(agent, tmux === undefined ? {} : { tmux })
    out.result({ command: argv }, () => argv.map(inShell).join(' '))
  },
})

const inShell = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)
