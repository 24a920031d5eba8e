import { conversationsReset } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { plural } from '../../screen/plural.js'
import { safe } from '../../screen/safe-text.js'

export const reset = operationCommand(conversationsReset, {
  name: 'conversations reset',
  examples: [
    ['skein conversations reset agent:main:discord:dm:ada', 'Remove it; the next message creates a new one'],
    ['skein conversations reset agent:main:discord:dm:ada --keep-metadata', 'New session, same settings and address'],
    ['skein conversations reset --agent main --kind cron', 'All of one kind'],
  ],
  args: ['key'],
  view: ({ reset: done, busy }) =>
    [
      `Reset ${plural(done.length, 'conversation')}`,
      ...done.flatMap(({ archived }) => archived.map((path) => safe`  put away: ${path}`)),
      ...busy.map((key) => safe`  in use, skipped: ${key}`),
    ].join('\n'),
})
