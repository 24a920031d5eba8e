import { choice, conversationsPolicy, optional, path, required, text } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

export const policy = operationCommand(conversationsPolicy, {
  name: 'conversations policy',
  examples: [
    ['skein conversations policy test agent:main:discord:dm:ada', "Without rules: the conversation's own setting"],
    [
      `skein conversations policy test agent:main:discord:group:7 --policy '{"rules":[{"match":{"chatType":"group"},"action":"deny"}]}'`,
      'Test a rule before you configure it',
    ],
  ],
  args: ['action', 'key'],
  fields: {
    policy: optional(text('policy'), 'A policy in place of the configured one: JSON, or a file with JSON in it'),
    policy_file: undefined,
  },
  own: { action: required(choice('action', ['test']), 'What to do: test') },
  prepare({ action: _, policy: given, ...typed }, cli) {
    const isJson = given?.trimStart().startsWith('{')
    if (given === undefined || isJson) return { ...typed, policy: given }
    return { ...typed, policy_file: path('file').parse(given, cli) }
  },
  view: (answer) => safe`${answer.decision}: ${reasonOf(answer)}`,
})

function reasonOf({ by, rule = 0, file }: Awaited<ReturnType<typeof conversationsPolicy.run>>): string {
  const where = file === undefined ? '' : ` of ${file}`
  switch (by) {
    case 'override':
      return "the conversation's own setting"
    case 'rule':
      return `rule ${rule + 1}${where} matches`
    case 'default':
      return `the default of ${file ?? 'the policy'}`
    case 'nothing-matched':
      return 'no rule denies it'
  }
}
