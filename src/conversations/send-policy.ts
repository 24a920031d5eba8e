import type { SessionChatType, SessionEntry } from './entry.js'
import { chatTypeOf } from './inbound.js'
import { type KeyParts, parseKey } from './key.js'

export type SendDecision = 'allow' | 'deny'

/** A rule applies when everything it names matches; one that names nothing applies always. */
export interface SendRule {
  match?: { channel?: string; chatType?: SessionChatType | 'direct'; keyPrefix?: string }
  action?: SendDecision
}

export interface SendPolicyConfig {
  default?: SendDecision
  rules?: SendRule[]
}

export interface SendQuestion {
  cfg?: { session?: { sendPolicy?: SendPolicyConfig } }
  entry?: Partial<SessionEntry>
  sessionKey?: string
  channel?: string
  chatType?: SessionChatType | 'direct'
}

export interface SendAnswer {
  decision: SendDecision
  /** What decided. `rule` counts from 0. */
  by: { kind: 'override' } | { kind: 'rule'; rule: number } | { kind: 'default' } | { kind: 'nothing-matched' }
}

/** May the agent send here? The entry's own word first, then the first rule that matches, then the default, then yes. */
export const resolveSendPolicy = (question: SendQuestion): SendDecision => explainSendPolicy(question).decision

export function explainSendPolicy({ cfg, entry, sessionKey, channel, chatType }: SendQuestion): SendAnswer {
  if (entry?.sendPolicy === 'allow' || entry?.sendPolicy === 'deny') {
    return { decision: entry.sendPolicy, by: { kind: 'override' } }
  }
  const policy = cfg?.session?.sendPolicy
  const key = sessionKey?.trim().toLowerCase() ?? ''
  const parts = readKey(sessionKey)
  const facts = {
    channel: fold(channel ?? entry?.channel ?? entry?.lastChannel ?? parts?.channel),
    chatType: chatTypeOf(chatType ?? entry?.chatType ?? parts?.kind),
    keys: [key, parts?.key.toLowerCase() ?? key, key.replace(/^agent:[^:]*:/, '')],
  }
  const rule = policy?.rules?.findIndex(({ match = {} }) => matches(match, facts)) ?? -1
  if (rule >= 0) return { decision: policy?.rules?.[rule]?.action ?? 'allow', by: { kind: 'rule', rule } }
  if (policy?.default) return { decision: policy.default, by: { kind: 'default' } }
  return { decision: 'allow', by: { kind: 'nothing-matched' } }
}

interface Facts {
  channel: string | undefined
  chatType: SessionChatType | undefined
  /** The key as given, in its normal spelling, and without `agent:<id>:`. */
  keys: string[]
}

function matches(match: NonNullable<SendRule['match']>, facts: Facts): boolean {
  const prefix = fold(match.keyPrefix)
  return (
    (match.channel === undefined || fold(match.channel) === facts.channel) &&
    (match.chatType === undefined || chatTypeOf(match.chatType) === facts.chatType) &&
    (prefix === undefined || facts.keys.some((key) => key.startsWith(prefix)))
  )
}

const fold = (text: string | undefined): string | undefined => text?.trim().toLowerCase()

function readKey(key: string | undefined): KeyParts | undefined {
  try {
    return key === undefined ? undefined : parseKey(key)
  } catch {
    return undefined
  }
}
