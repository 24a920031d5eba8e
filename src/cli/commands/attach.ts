import { agentsAttach, flag } from '../../operations/index.js'
import type { Command } from '../command.js'
import { operationCommand } from '../operation-command.js'
import { visit } from '../visit.js'

const command = operationCommand(agentsAttach, {
  name: 'attach',
  summary: "Go to an agent's terminal",
  description:
    'Detach with C-q; the agent keeps running. A finished reply is marked as seen. Inside another tmux it opens as a window there. Without a terminal, and with --print or --json, it prints the command instead.',
  examples: [['skein attach web/demo --print', 'The command that attaches']],
  args: ['agent'],
  fields: { tmux: undefined },
  own: { print: flag('Print the command instead of attaching') },
  prepare: ({ agent }, { tmux }) => ({ agent, tmux }),
  view: ({ command: argv }) => argv.map(inShell).join(' '),
})

export const attach: Command = {
  ...command,
  async start(given, cli) {
    const [agent] = given.agent ?? []
    if (agent !== undefined && given.print === undefined && !cli.out.json && (await visit(agent, cli))) return
    await command.start(given, cli)
  },
}

const inShell = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)
