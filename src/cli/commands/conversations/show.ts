import { existsSync } from 'node:fs'
import { branchTo, type Row } from '../../../conversations/index.js'
import { instantOf, SkeinError } from '../../../model/index.js'
import { count, defaulted, required } from '../../../operations/index.js'
import { command } from '../../command.js'
import { conversationKey, openConversations, ownerOf, STORE_OPTIONS } from '../../input/conversation-store.js'
import { card } from '../../screen/card.js'
import { localAndRelativeTime } from '../../screen/moment.js'
import { safe } from '../../screen/safe-text.js'
import type { Screen } from '../../screen/screen.js'
import { conversationDocument, messageDocuments } from '../../views/conversation-document.js'

export const show = command({
  name: 'conversations show',
  summary: 'Show one conversation and its latest messages',
  examples: [
    ['skein conversations show agent:main:discord:dm:ada', 'What is stored about it, and its latest messages'],
    ['skein conversations show agent:main:discord:dm:ada --messages 50 --json', 'More of it, as JSON'],
  ],
  args: { key: required(conversationKey, 'Its key') },
  options: { messages: defaulted(count, 10, 'How many of the latest messages'), ...STORE_OPTIONS },
  async run({ key, messages: wanted, files }, cli) {
    using store = await openConversations(cli, { files })
    const conversations = ownerOf(store, key)
    const row = await conversations.get(key)
    if (!row)
      throw new SkeinError('conversation-not-found', `There is no conversation ${key}`, 'Try: skein conversations list')
    const path = await conversations.transcriptPath(key)
    const transcript = await conversations.transcript(key)
    const messages = messageDocuments(transcript ? branchTo(transcript) : []).slice(-wanted)
    const document = {
      conversation: conversationDocument(row),
      entry: row.entry,
      ...(existsSync(path) ? { transcript: path } : {}),
      messages,
    }
    cli.out.result(document, (screen) => {
      const told = messages.filter(({ text }) => text !== '') // a call of a tool has no words
      const said = told.map(({ role, text }) => `${screen.paint.dim(safe`${role}:`)} ${safe`${text}`}`)
      return [facts(row, document.transcript, screen), ...(said.length > 0 ? [said.join('\n')] : [])].join('\n\n')
    })
  },
})

function facts({ key, revision, entry }: Row, transcript: string | undefined, screen: Screen): string {
  return card(
    [
      ['conversation', key],
      ['name', entry.label ?? entry.displayName],
      ['active', localAndRelativeTime(instantOf(entry.updatedAt), screen.nowMs)],
      ['session', entry.sessionId],
      ['SDK session', entry.sdkSessionId],
      ['model', entry.model],
      ['tokens', entry.totalTokens],
      ['channel', entry.channel],
      ['replies to', entry.deliveryContext?.to],
      ['spawned by', entry.spawnedBy],
      ['send policy', entry.sendPolicy],
      ['transcript', transcript],
      ['revision', revision],
    ],
    screen,
  )
}
