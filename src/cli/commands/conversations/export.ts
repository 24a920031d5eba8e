import { resolve } from 'node:path'
import { exportOpenClaw } from '../../../conversations/index.js'
import { SkeinError } from '../../../model/index.js'
import { choice, directory, optional, required, text } from '../../../operations/index.js'
import { command } from '../../command.js'
import { agentsOf, openConversations, STORE_OPTIONS } from '../../input/conversation-store.js'
import { plural } from '../../screen/plural.js'
import { safe } from '../../screen/safe-text.js'

export const exportConversations = command({
  name: 'conversations export',
  summary: 'Export conversations to another program',
  description:
    'For OpenClaw: the layout of 2026.7.1, which newer versions convert automatically. Nothing is overwritten.',
  examples: [
    ['skein conversations export openclaw openclaw-state', 'Every agent'],
    ['skein conversations export openclaw openclaw-state --agent main', 'One agent'],
  ],
  args: {
    program: required(choice('program', ['openclaw']), 'The program to write for'),
    directory: required(directory, 'The target directory; it must not contain a store of these agents yet'),
  },
  options: { agent: optional(text('agent'), 'Only conversations of this agent'), ...STORE_OPTIONS },
  async run({ directory: to, agent, files }, cli) {
    using store = await openConversations(cli, { files })
    const agents = agentsOf(store, agent).map((conversations) => conversations.agent)
    if (agents.length === 0)
      throw new SkeinError('bad-input', 'There are no conversations to export', 'Try: skein conversations list')
    const exported = await exportOpenClaw(store, resolve(cli.cwd, to), { agents })
    cli.out.result({ agents: exported }, () =>
      exported
        .map(
          (one) =>
            safe`${one.agent}: ${plural(one.entries, 'conversation')}, ${plural(one.transcripts, 'transcript')} in ${one.store}`,
        )
        .join('\n'),
    )
  },
})
