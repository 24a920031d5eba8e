import { resolve } from 'node:path'
import { parseSendPolicy } from '../../../conversations/index.js'
import { explainDiskError, readGiven } from '../../../disk/index.js'
import { SkeinError } from '../../../model/index.js'
import { choice, conversationsPolicy, optional, required, text } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

export const policy = operationCommand(conversationsPolicy, {
  name: 'conversations policy',
  examples: [
    ['skein conversations policy test agent:main:discord:dm:ada', 'Without rules: what the conversation itself says'],
    [
      `skein conversations policy test agent:main:discord:group:7 --policy '{"rules":[{"match":{"chatType":"group"},"action":"deny"}]}'`,
      'Try a rule before it is written into a configuration',
    ],
  ],
  args: ['action', 'key'],
  fields: { policy: optional(text('policy'), 'A policy: JSON, or a file with JSON in it') },
  own: { action: required(choice('action', ['test']), 'What to do: test') },
  prepare: ({ action: _, policy: given, ...typed }, { cwd }) => ({
    ...typed,
    policy: given === undefined ? undefined : policyText(given, cwd),
  }),
  view: (answer) => safe`${answer.decision}: ${reasonOf(answer)}`,
})

const MOST_BYTES = 16 * 1024 * 1024

/** A policy is JSON, or a file with JSON in it. */
function policyText(given: string, cwd: string): string {
  if (given.trimStart().startsWith('{')) return given
  const path = resolve(cwd, given)
  try {
    const written = readGiven(path, MOST_BYTES).toString('utf8')
    parseSendPolicy(written, path) // what is wrong with a file is said of the file
    return written
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new SkeinError(
        'bad-input',
        `There is no file ${path}`,
        'Give a file with a policy in it, or the policy itself',
      )
    }
    throw explainDiskError(error, path)
  }
}

function reasonOf({ by, rule = 0 }: Awaited<ReturnType<typeof conversationsPolicy.run>>): string {
  switch (by) {
    case 'override':
      return 'the conversation itself says so'
    case 'rule':
      return `rule ${rule + 1} matches`
    case 'default':
      return 'the default of the policy'
    case 'nothing-matched':
      return 'nothing speaks against it'
  }
}
