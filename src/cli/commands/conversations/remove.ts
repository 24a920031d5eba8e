import { flag, optional, present, required, text } from '../../../operations/index.js'
import { command } from '../../command.js'
import { conversationKey, openConversations, ownerOf, STORE_OPTIONS } from '../../input/conversation-store.js'
import { safe } from '../../screen/safe-text.js'
import { resetDocument } from '../../views/conversation-document.js'

export const remove = command({
  name: 'conversations remove',
  summary: 'Remove a conversation',
  description: 'Removes the entry; keeps the transcript under another name, unless --destroy-transcript is given.',
  examples: [
    ['skein conversations remove agent:main:discord:dm:ada', 'The transcript stays beside the others'],
    ['skein conversations remove agent:main:discord:dm:ada --destroy-transcript', 'Nothing stays'],
  ],
  args: { key: required(conversationKey, 'Its key') },
  options: {
    'destroy-transcript': flag('Delete the transcript too'),
    revision: optional(text('revision'), 'Only if this is still its revision'),
    ...STORE_OPTIONS,
  },
  async run({ key, revision, files, 'destroy-transcript': destroyTranscript }, cli) {
    using store = await openConversations(cli, { files })
    const receipt = await ownerOf(store, key).remove(key, { destroyTranscript, ...present({ revision }) })
    cli.out.result({ removed: resetDocument(receipt) }, () =>
      [
        safe`Removed ${receipt.key}`,
        ...receipt.archived.map((path) => safe`  transcript kept: ${path}`),
        ...receipt.destroyed.map((path) => safe`  transcript deleted: ${path}`),
      ].join('\n'),
    )
  },
})
