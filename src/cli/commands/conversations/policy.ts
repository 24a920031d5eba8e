import { choice, conversationsPolicy, optional, path, required, text } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

export const policy = operationCommand(conversationsPolicy, {
  name: 'conversations policy',
<<<<<<< HEAD
=======
  summary: 'Show whether an agent may send somewhere',
  description:
    "The conversation's own setting comes first, then the first rule of [conversations.send_policy] in config.toml that matches, then its default. Without any of them, sending is allowed.",
>>>>>>> integration
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

<<<<<<< HEAD
function reasonOf({ by, rule = 0, file }: Awaited<ReturnType<typeof conversationsPolicy.run>>): string {
=======
const MOST_BYTES = 16 * 1024 * 1024

function givenPolicy(given: string, cwd: string): SendPolicySource {
  if (given.trimStart().startsWith('{')) return { policy: parseSendPolicy(given, '--policy') }
  const file = resolve(cwd, given)
  return { policy: readPolicy(file), file }
}

function readPolicy(path: string): SendPolicyConfig {
  try {
    return parseSendPolicy(readGiven(path, MOST_BYTES).toString('utf8'), path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new SkeinError(
        'bad-input',
        `There is no file ${path}`,
        'Name a file that contains a policy, or pass the policy itself',
      )
    }
    throw explainDiskError(error, path)
  }
}

function reasonOf({ by }: SendAnswer, file: string | undefined): string {
>>>>>>> integration
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
