import { conversationsExport } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { plural } from '../../screen/plural.js'
import { safe } from '../../screen/safe-text.js'

export const exportConversations = operationCommand(conversationsExport, {
  name: 'conversations export',
  examples: [
    ['skein conversations export openclaw openclaw-state', 'Every agent'],
    ['skein conversations export openclaw openclaw-state --agent main', 'One agent'],
  ],
  args: ['program', 'directory'],
  view: ({ agents }) =>
    agents
      .map(
        (one) =>
          safe`${one.agent}: ${plural(one.entries, 'conversation')}, ${plural(one.transcripts, 'transcript')} in ${one.store}`,
      )
      .join('\n'),
})
