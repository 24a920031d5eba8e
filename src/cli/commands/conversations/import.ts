import { resolve } from 'node:path'
import { importOpenClaw } from '../../../conversations/index.js'
import { choice, directory, flag, required } from '../../../operations/index.js'
import { command } from '../../command.js'
import { openConversations, STORE_OPTIONS } from '../../input/conversation-store.js'
import { plural } from '../../screen/plural.js'
import { safe } from '../../screen/safe-text.js'

export const importConversations = command({
  name: 'conversations import',
  summary: 'Import conversations from another program',
  description: "Copies entries and transcripts; the other program's files are not changed.",
  examples: [
    ['skein conversations import openclaw openclaw-backup --dry-run', 'What would be imported'],
    ['skein conversations import openclaw openclaw-backup', 'Every agent below an OpenClaw state directory'],
  ],
  args: {
    program: required(choice('program', ['openclaw']), 'The program whose files they are'),
    directory: required(directory, 'Its state directory (~/.openclaw), or the sessions directory of one agent'),
  },
  options: {
    replace: flag('Replace conversations that already exist'),
    'dry-run': flag('Change nothing, only report what would be imported'),
    ...STORE_OPTIONS,
  },
  async run({ directory: from, replace, 'dry-run': dryRun, files }, cli) {
    using store = await openConversations(cli, { files })
    const agents = await importOpenClaw(store, resolve(cli.cwd, from), {
      onExisting: replace ? 'replace' : 'keep',
      dryRun,
    })
    cli.out.result({ dry_run: dryRun, agents }, () =>
      agents
        .flatMap(({ agent, imported, transcripts, skipped }) => [
          `${agent}: ${dryRun ? 'would import' : 'imported'} ${plural(imported.length, 'conversation')} and ${plural(transcripts, 'transcript')}`,
          ...skipped.map(({ key, because }) => safe`  left out: ${key}: ${because}`),
        ])
        .join('\n'),
    )
  },
})
