import { conversationsSet } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

export const set = operationCommand(conversationsSet, {
  name: 'conversations set',
  examples: [
    ['skein conversations set agent:main:discord:dm:ada sendPolicy=deny', 'Never send there'],
    [
      'skein conversations set agent:main:discord:dm:ada modelOverride=claude-haiku-4-5 label=Ada',
      'Two fields at once',
    ],
    ['skein conversations set agent:main:discord:dm:ada modelOverride=', 'Remove a setting'],
  ],
  args: ['key', 'change'],
  view({ conversation: { key, revision } }, _, { change }) {
    const names = [...new Set(change.map((one) => one.split('=', 1)[0] ?? ''))].join(', ')
    return safe`Changed ${names} of ${key}; its revision is now ${revision}`
  },
})
