import { instantOf, msOf } from '../../../model/index.js'
import { count, flag, optional, present, usageError, when } from '../../../operations/index.js'
import { command } from '../../command.js'
import { agentsOf, CONVERSATION_OPTIONS, openConversations, STORE_OPTIONS } from '../../input/conversation-store.js'
import { plural } from '../../screen/plural.js'
import { safe } from '../../screen/safe-text.js'

export const prune = command({
  name: 'conversations prune',
  summary: 'Remove conversations that are no longer used',
  description: 'Sets their transcripts aside instead of deleting them. Skips conversations that are in use.',
  examples: [
    ['skein conversations prune --older-than 30d --dry-run', 'What would be removed'],
    ['skein conversations prune --older-than 7d --kind subagent', 'Finished workers of last week'],
    ['skein conversations prune --agent main --max 500', 'The least recently used beyond a number'],
  ],
  args: {},
  options: {
    ...CONVERSATION_OPTIONS,
    'older-than': optional(when, 'Not active since: 30d, 2026-01-17 or a full time'),
    max: optional(count, 'Keep at most this many per agent'),
    'dry-run': flag('Change nothing, only report what would be removed'),
    'destroy-transcripts': flag('Delete the transcripts instead of putting them away'),
    ...STORE_OPTIONS,
  },
  async run({ agent, kind, max, files, ...more }, cli) {
    const olderThan = more['older-than']
    if (olderThan === undefined && max === undefined) throw usageError('Which ones?', 'Use --older-than or --max')
    const dryRun = more['dry-run']
    using store = await openConversations(cli, { files })
    const options = {
      ...present({ olderThanMs: olderThan && cli.nowMs - msOf(olderThan), maxEntries: max, kinds: kind && [kind] }),
      dryRun,
      destroyTranscripts: more['destroy-transcripts'],
    }
    const receipts = []
    for (const conversations of agentsOf(store, agent)) receipts.push(await conversations.prune(options))
    const pruned = receipts.flatMap((receipt) => receipt.pruned)
    const busy = receipts.flatMap((receipt) => receipt.busy)
    const kept = receipts.reduce((sum, receipt) => sum + receipt.kept, 0)
    const documents = pruned.map(({ key, reason, updatedAt }) => ({ key, reason, updated_at: instantOf(updatedAt) }))
    cli.out.result({ dry_run: dryRun, pruned: documents, busy, kept }, () =>
      [
        `${dryRun ? 'Would remove' : 'Removed'} ${plural(pruned.length, 'conversation')}; ${kept} stay`,
        ...pruned.map(({ key, reason }) => safe`  ${key} (${reason})`),
        ...busy.map((key) => safe`  in use, skipped: ${key}`),
      ].join('\n'),
    )
  },
})
