import { conversationsImport } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { plural } from '../../screen/plural.js'
import { safe } from '../../screen/safe-text.js'

export const importConversations = operationCommand(conversationsImport, {
  name: 'conversations import',
  examples: [
    ['skein conversations import openclaw openclaw-backup --dry-run', 'What would be imported'],
    ['skein conversations import openclaw openclaw-backup', 'Every agent below an OpenClaw state directory'],
  ],
  args: ['program', 'directory'],
  view: ({ dry_run, agents }) =>
    agents
      .flatMap(({ agent, imported, transcripts, skipped }) => [
        `${agent}: ${dry_run ? 'would import' : 'imported'} ${plural(imported.length, 'conversation')} and ${plural(transcripts, 'transcript')}`,
        ...skipped.map(({ key, because }) => safe`  left out: ${key}: ${because}`),
      ])
      .join('\n'),
})
