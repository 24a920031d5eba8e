import { conversationsRemove } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

export const remove = operationCommand(conversationsRemove, {
  name: 'conversations remove',
  examples: [
    ['skein conversations remove agent:main:discord:dm:ada', 'The transcript stays beside the others'],
    ['skein conversations remove agent:main:discord:dm:ada --destroy-transcript', 'Nothing stays'],
  ],
  args: ['key'],
  view: ({ removed }) =>
    [
      safe`Removed ${removed.key}`,
      ...removed.archived.map((path) => safe`  transcript kept: ${path}`),
      ...removed.destroyed.map((path) => safe`  transcript deleted: ${path}`),
    ].join('\n'),
})
