import { instantOf } from '../../../model/index.js'
import { conversationsShow } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { card } from '../../screen/card.js'
import { localAndRelativeTime } from '../../screen/moment.js'
import { safe } from '../../screen/safe-text.js'
import type { Screen } from '../../screen/screen.js'

type Shown = Awaited<ReturnType<typeof conversationsShow.run>>

export const show = operationCommand(conversationsShow, {
  name: 'conversations show',
  examples: [
    ['skein conversations show agent:main:discord:dm:ada', 'What is stored about it, and its latest messages'],
    ['skein conversations show agent:main:discord:dm:ada --messages 50 --json', 'More of it, as JSON'],
  ],
  args: ['key'],
  view(shown, screen) {
    const told = shown.messages.filter(({ text }) => text !== '') // a call of a tool has no words
    const said = told.map(({ role, text }) => `${screen.paint.dim(safe`${role}:`)} ${safe`${text}`}`)
    return [facts(shown, screen), ...(said.length > 0 ? [said.join('\n')] : [])].join('\n\n')
  },
})

function facts({ conversation: { key, revision }, entry, transcript }: Shown, screen: Screen): string {
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
