import type { ResetReceipt } from '../../../conversations/index.js'
import { flag, optional, present, repeated, text, usageError } from '../../../operations/index.js'
import { command } from '../../command.js'
import {
  agentsOf,
  CONVERSATION_OPTIONS,
  conversationKey,
  openConversations,
  ownerOf,
  STORE_OPTIONS,
} from '../../input/conversation-store.js'
import { plural } from '../../screen/plural.js'
import { safe } from '../../screen/safe-text.js'
import { resetDocument } from '../../views/conversation-document.js'

export const reset = command({
  name: 'conversations reset',
  summary: 'Reset conversations',
  description: 'Sets the transcript aside and unbinds the session.',
  examples: [
    ['skein conversations reset agent:main:discord:dm:ada', 'Remove it; the next message creates a new one'],
    ['skein conversations reset agent:main:discord:dm:ada --keep-metadata', 'New session, same settings and address'],
    ['skein conversations reset --agent main --kind cron', 'All of one kind'],
  ],
  args: { key: repeated(conversationKey, 'Which ones') },
  options: {
    ...CONVERSATION_OPTIONS,
    'keep-metadata': flag('Keep settings, name and address under a new session id'),
    'destroy-transcript': flag('Delete the transcript instead of putting it away'),
    revision: optional(text('revision'), 'Only if this is still its revision'),
    ...STORE_OPTIONS,
  },
  async run({ key: keys, agent, kind, revision, files, ...flags }, cli) {
    const options = { keepMetadata: flags['keep-metadata'], destroyTranscript: flags['destroy-transcript'] }
    if (keys.length === 0 && agent === undefined && kind === undefined) {
      throw usageError('Which conversations?', 'Name one by its key, or many with --agent or --kind')
    }
    if (revision !== undefined && keys.length !== 1)
      throw usageError('--revision needs exactly one key', 'Name one conversation')
    using store = await openConversations(cli, { files })
    const done: ResetReceipt[] = []
    const busy: string[] = []
    for (const key of keys) done.push(await ownerOf(store, key).reset(key, { ...options, ...present({ revision }) }))
    if (keys.length === 0) {
      for (const conversations of agentsOf(store, agent)) {
        const batch = await conversations.resetAll(present({ kind }), options)
        done.push(...batch.reset)
        busy.push(...batch.busy)
      }
    }
    cli.out.result({ reset: done.map(resetDocument), busy }, () =>
      [
        `Reset ${plural(done.length, 'conversation')}`,
        ...done.flatMap(({ archived }) => archived.map((path) => safe`  put away: ${path}`)),
        ...busy.map((key) => safe`  in use, skipped: ${key}`),
      ].join('\n'),
    )
  },
})
