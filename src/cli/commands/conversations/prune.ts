import { conversationsPrune } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { plural } from '../../screen/plural.js'
import { safe } from '../../screen/safe-text.js'

export const prune = operationCommand(conversationsPrune, {
  name: 'conversations prune',
  examples: [
    ['skein conversations prune --older-than 30d --dry-run', 'What would be removed'],
    ['skein conversations prune --older-than 7d --kind subagent', 'Finished workers of last week'],
    ['skein conversations prune --agent main --max 500', 'The least recently used beyond a number'],
  ],
  view: ({ dry_run, pruned, busy, kept }) =>
    [
      `${dry_run ? 'Would remove' : 'Removed'} ${plural(pruned.length, 'conversation')}; ${kept} stay`,
      ...pruned.map(({ key, reason }) => safe`  ${key} (${reason})`),
      ...busy.map((key) => safe`  in use, skipped: ${key}`),
    ].join('\n'),
})
