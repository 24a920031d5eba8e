import { type EntryPatch, parseFieldChange, SETTABLE_FIELDS } from '../../../conversations/index.js'
import { optional, present, repeated, required, text, usageError } from '../../../operations/index.js'
import { command } from '../../command.js'
import { conversationKey, openConversations, ownerOf, STORE_OPTIONS } from '../../input/conversation-store.js'
import { safe } from '../../screen/safe-text.js'
import { conversationDocument } from '../../views/conversation-document.js'

export const set = command({
  name: 'conversations set',
  summary: 'Change settings of a conversation',
  description: `Fields that can be set: ${SETTABLE_FIELDS.join(', ')}. An empty value removes the field. Either all fields change or none.`,
  examples: [
    ['skein conversations set agent:main:discord:dm:ada sendPolicy=deny', 'Never send there'],
    [
      'skein conversations set agent:main:discord:dm:ada modelOverride=claude-haiku-4-5 label=Ada',
      'Two fields at once',
    ],
    ['skein conversations set agent:main:discord:dm:ada modelOverride=', 'Remove a setting'],
  ],
  args: {
    key: required(conversationKey, 'Its key'),
    change: repeated(text('field=value'), 'What to change'),
  },
  options: { revision: optional(text('revision'), 'Only if this is still its revision'), ...STORE_OPTIONS },
  async run({ key, change: changes, revision, files }, cli) {
    if (changes.length === 0) throw usageError('Nothing to change', 'Write field=value after the key')
    const patch = Object.assign({}, ...changes.map(parseFieldChange)) as EntryPatch
    using store = await openConversations(cli, { files })
    const row = await ownerOf(store, key).patch(key, patch, present({ revision }))
    const names = Object.keys(patch).join(', ')
    cli.out.result(
      { conversation: conversationDocument(row), entry: row.entry },
      () => safe`Changed ${names} of ${row.key}; its revision is now ${row.revision}`,
    )
  },
})
