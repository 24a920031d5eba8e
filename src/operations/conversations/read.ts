import { existsSync } from 'node:fs'
import {
  branchTo,
  explainSendPolicy,
  parseKey,
  parseSendPolicy,
  policiesOf,
  type SendPolicySource,
} from '../../conversations/index.js'
import { explainDiskError, readGiven } from '../../disk/index.js'
import { msOf, SkeinError } from '../../model/index.js'
import type { OperationContext } from '../context.js'
import { defaulted, optional, required } from '../field.js'
import { choice, count, path, text, when, wrongInput } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'
import { conversationDocument, messageDocuments } from './documents.js'
import { agentsOf, FILTERS, KEY, openConversations, ownerOf, STORE } from './store.js'

export interface ConversationList {
  conversations: ReturnType<typeof conversationDocument>[]
  /** Stores of agents that could not be read; the others are listed. */
  problems?: string[]
}

export const conversationsList = operation({
  name: 'conversations.list',
  does: 'reads',
  where: 'either',
  summary: 'List conversations, newest first',
  input: {
    ...FILTERS,
    channel: optional(text('channel'), 'Only conversations on this channel'),
    since: optional(when, 'Active at or after: 1h, 7d, today, yesterday, 2026-01-17 or a full time'),
    limit: defaulted(count, 20, 'At most this many', { short: 'n' }),
    ...STORE,
  },
  result: 'conversations',
  async run({ agent, kind, channel, since, limit, files }, context): Promise<ConversationList> {
    using store = await openConversations({ files }, context)
    const filter = { ...present({ kind, channel, activeSince: since && msOf(since) }), limit }
    const agents = agentsOf(store, agent)
    const asked = await Promise.allSettled(agents.map((conversations) => conversations.list(filter)))
    // One agent's store that cannot be read hides nobody else's.
    const problems: string[] = []
    for (const one of asked) {
      if (one.status === 'fulfilled') continue
      if (!(one.reason instanceof SkeinError) || agents.length === 1) throw one.reason
      problems.push(`${one.reason.message}. ${one.reason.next}`)
    }
    const found = asked.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
    const newest = found.sort((a, b) => b.entry.updatedAt - a.entry.updatedAt)
    const conversations = newest.slice(0, limit).map(conversationDocument)
    return problems.length > 0 ? { conversations, problems } : { conversations }
  },
})

export const conversationsShow = operation({
  name: 'conversations.show',
  does: 'reads',
  where: 'either',
  summary: 'Show one conversation and its latest messages',
  input: { key: KEY, messages: defaulted(count, 10, 'How many of the latest messages'), ...STORE },
  result: 'conversation-details',
  async run({ key, messages: wanted, files }, context) {
    using store = await openConversations({ files }, context)
    const conversations = ownerOf(store, key)
    const row = await conversations.get(key)
    if (!row)
      throw new SkeinError('conversation-not-found', `There is no conversation ${key}`, 'Try: skein conversations list')
    const transcriptPath = await conversations.transcriptPath(key)
    const transcript = await conversations.transcript(key)
    const messages = messageDocuments(transcript ? branchTo(transcript) : []).slice(-wanted)
    return {
      conversation: conversationDocument(row),
      entry: row.entry,
      ...(existsSync(transcriptPath) ? { transcript: transcriptPath } : {}),
      messages,
    }
  },
})

export const conversationsPolicy = operation({
  name: 'conversations.policy',
  does: 'reads',
  where: 'either',
  summary: 'Show whether an agent may send somewhere',
  description:
    "The conversation's own setting comes first, then the first rule of [conversations.send_policy] in config.toml that matches, then its default. Without any of them, sending is allowed.",
  input: {
    key: required(text('key'), 'The key of a conversation, which need not exist'),
    policy: optional(text('policy'), 'A policy in place of the configured one, as JSON'),
    policy_file: optional(path('file'), 'The same from a file with JSON in it'),
    channel: optional(text('channel'), 'As if it were on this channel'),
    chat_type: optional(choice('type', ['dm', 'group', 'channel']), 'As if it were of this type'),
    ...STORE,
  },
  result: 'send-answer',
  async run({ key, policy: given, policy_file, channel, chat_type: chatType, files }, context) {
    const parts = parseKey(key)
    const { policy: sendPolicy, file } = await policyOf(given, policy_file, context)
    using store = await openConversations({ files }, context)
    const row = await agentsOf(store, parts.agent)[0]?.get(key)
    const { decision, by } = explainSendPolicy({
      cfg: { session: { sendPolicy } },
      sessionKey: key,
      ...present({ entry: row?.entry, channel, chatType }),
    })
    const rule = by.kind === 'rule' ? { rule: by.rule } : {}
    const source = by.kind === 'rule' || by.kind === 'default' ? present({ file }) : {}
    return { key: parts.key, decision, by: by.kind, ...rule, ...source }
  },
})

const MOST_BYTES = 16 * 1024 * 1024

/** The policy that was given, the one in a file, or the configured one. */
async function policyOf(
  given: string | undefined,
  file: string | undefined,
  { configFile }: Pick<OperationContext, 'configFile'>,
): Promise<SendPolicySource> {
  if (given !== undefined) return { policy: parseSendPolicy(given, '--policy') }
  if (file === undefined) return policiesOf(configFile).send()
  try {
    return { policy: parseSendPolicy(readGiven(file, MOST_BYTES).toString('utf8'), file), file }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw wrongInput(`There is no file ${file}`, 'Name a file that contains a policy, or pass the policy itself')
    throw explainDiskError(error, file)
  }
}
