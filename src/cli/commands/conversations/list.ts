import { instantOf, msOf, SkeinError } from '../../../model/index.js'
import { count, defaulted, optional, present, text, when } from '../../../operations/index.js'
import { command } from '../../command.js'
import { agentsOf, CONVERSATION_OPTIONS, openConversations, STORE_OPTIONS } from '../../input/conversation-store.js'
import { relativeTime } from '../../screen/moment.js'
import { safeText } from '../../screen/safe-text.js'
import { table } from '../../screen/table.js'
import { conversationDocument } from '../../views/conversation-document.js'

export const list = command({
  name: 'conversations list',
  summary: 'List conversations, newest first',
  examples: [
    ['skein conversations list', 'The newest conversations of all agents'],
    ['skein conversations list --agent main --channel discord --since 7d', "One agent's week on one channel"],
    ['skein conversations list --files openclaw-backup', "Another program's files, read in place"],
  ],
  args: {},
  options: {
    ...CONVERSATION_OPTIONS,
    channel: optional(text('channel'), 'Only conversations on this channel'),
    since: optional(when, 'Active at or after: 1h, 7d, today, yesterday, 2026-01-17 or a full time'),
    limit: defaulted(count, 20, 'At most this many', { short: 'n' }),
    ...STORE_OPTIONS,
  },
  async run({ agent, kind, channel, since, limit, files }, cli) {
    using store = await openConversations(cli, { files })
    const filter = { ...present({ kind, channel, activeSince: since && msOf(since) }), limit }
    const agents = agentsOf(store, agent)
    const asked = await Promise.allSettled(agents.map((conversations) => conversations.list(filter)))
    // One agent's store that cannot be read hides nobody else's.
    for (const one of asked) {
      if (one.status === 'fulfilled') continue
      if (!(one.reason instanceof SkeinError) || agents.length === 1) throw one.reason
      cli.out.note(safeText(`${one.reason.message}. ${one.reason.next}`))
      cli.out.fails()
    }
    const found = asked.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
    const newest = found.sort((a, b) => b.entry.updatedAt - a.entry.updatedAt)
    const rows = newest.slice(0, limit)
    cli.out.result({ conversations: rows.map(conversationDocument) }, (screen) =>
      rows.length === 0
        ? 'No conversations'
        : table(
            rows,
            [
              { header: 'CONVERSATION', text: ({ key }) => key, paint: (paint) => paint.cyan, shrinkTo: 24 },
              { header: 'ACTIVE', text: ({ entry }) => relativeTime(instantOf(entry.updatedAt), screen.nowMs) },
              { header: 'TOKENS', text: ({ entry }) => String(entry.totalTokens ?? ''), align: 'right' },
              { header: 'MODEL', text: ({ entry }) => entry.model ?? '', shrinkTo: 8 },
              { header: 'NAME', text: ({ entry }) => entry.label ?? entry.displayName ?? '', shrinkTo: 8 },
            ],
            screen,
          ),
    )
  },
})
