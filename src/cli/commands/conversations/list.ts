import { conversationsList } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { relativeTime } from '../../screen/moment.js'
import { safeText } from '../../screen/safe-text.js'
import { table } from '../../screen/table.js'

export const list = operationCommand(conversationsList, {
  name: 'conversations list',
  examples: [
    ['skein conversations list', 'The newest conversations of all agents'],
    ['skein conversations list --agent main --channel discord --since 7d', "One agent's week on one channel"],
    ['skein conversations list --files openclaw-backup', "Another program's files, read in place"],
  ],
  fails: ({ problems }) => problems !== undefined,
  show({ conversations, problems = [] }, { out }) {
    for (const problem of problems) out.note(safeText(problem))
    out.result({ conversations }, (screen) =>
      conversations.length === 0
        ? 'No conversations'
        : table(
            conversations,
            [
              { header: 'CONVERSATION', text: ({ key }) => key, paint: (paint) => paint.cyan, shrinkTo: 24 },
              { header: 'ACTIVE', text: ({ updated_at }) => relativeTime(updated_at, screen.nowMs) },
              { header: 'TOKENS', text: ({ total_tokens }) => String(total_tokens ?? ''), align: 'right' },
              { header: 'MODEL', text: ({ model }) => model ?? '', shrinkTo: 8 },
              { header: 'NAME', text: ({ label, display_name }) => label ?? display_name ?? '', shrinkTo: 8 },
            ],
            screen,
          ),
    )
  },
})
