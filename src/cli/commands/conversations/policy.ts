import { resolve } from 'node:path'
import {
  explainSendPolicy,
  parseKey,
  parseSendPolicy,
  policiesOf,
  type SendAnswer,
  type SendPolicyConfig,
  type SendPolicySource,
} from '../../../conversations/index.js'
import { explainDiskError, readGiven } from '../../../disk/index.js'
import { SkeinError } from '../../../model/index.js'
import { choice, optional, present, required, text } from '../../../operations/index.js'
import { command } from '../../command.js'
import { agentsOf, conversationKey, openConversations, STORE_OPTIONS } from '../../input/conversation-store.js'
import { safe } from '../../screen/safe-text.js'

export const policy = command({
  name: 'conversations policy',
  summary: 'Show whether an agent may send somewhere',
  description:
    "The conversation's own setting comes first, then the first rule of [conversations.send_policy] in config.toml that matches, then its default. Without any of them, sending is allowed.",
  examples: [
    ['skein conversations policy test agent:main:discord:dm:ada', "Without rules: the conversation's own setting"],
    [
      `skein conversations policy test agent:main:discord:group:7 --policy '{"rules":[{"match":{"chatType":"group"},"action":"deny"}]}'`,
      'Test a rule before you configure it',
    ],
  ],
  args: {
    action: required(choice('action', ['test']), 'What to do: test'),
    key: required(conversationKey, 'The key of a conversation, which need not exist'),
  },
  options: {
    policy: optional(text('policy'), 'A policy in place of the configured one: JSON, or a file with JSON in it'),
    channel: optional(text('channel'), 'As if it were on this channel'),
    'chat-type': optional(choice('type', ['dm', 'group', 'channel']), 'As if it were of this type'),
    ...STORE_OPTIONS,
  },
  async run({ key, policy: given, channel, 'chat-type': chatType, files }, cli) {
    const parts = parseKey(key)
    const { policy: sendPolicy, file } =
      given === undefined ? await policiesOf(cli.daemon.configFile).send() : givenPolicy(given, cli.cwd)
    using store = await openConversations(cli, { files })
    const row = await agentsOf(store, parts.agent)[0]?.get(key)
    const question = {
      cfg: { session: { sendPolicy } },
      sessionKey: key,
      ...present({ entry: row?.entry, channel, chatType }),
    }
    const answer = explainSendPolicy(question)
    const rule = answer.by.kind === 'rule' ? { rule: answer.by.rule } : {}
    const source = answer.by.kind === 'rule' || answer.by.kind === 'default' ? present({ file }) : {}
    cli.out.result(
      { key: parts.key, decision: answer.decision, by: answer.by.kind, ...rule, ...source },
      () => safe`${answer.decision}: ${reasonOf(answer, source.file)}`,
    )
  },
})

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
  const where = file === undefined ? '' : ` of ${file}`
  switch (by.kind) {
    case 'override':
      return "the conversation's own setting"
    case 'rule':
      return `rule ${by.rule + 1}${where} matches`
    case 'default':
      return `the default of ${file ?? 'the policy'}`
    case 'nothing-matched':
      return 'no rule denies it'
  }
}
