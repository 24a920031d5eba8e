import { type DeliveryContext, deliveryFields, deliveryOf, mergeDelivery } from './delivery.js'
import type { EntryPatch, SessionChatType, SessionEntry, SessionOrigin } from './entry.js'
import { type ConversationKey, parseKey } from './key.js'

/** What a gateway knows about a message that came in. */
export interface Inbound {
  text?: string
  channel?: string
  surface?: string
  chatType?: SessionChatType | 'direct'
  from?: string
  to?: string
  accountId?: string
  threadId?: string | number
  /** How people call this conversation. */
  label?: string
  group?: { id?: string; subject?: string; channel?: string; space?: string }
}

/** What a message says about its conversation. Only what it names is changed; the origin is written once and then completed. */
export function metaFromInbound(key: ConversationKey, inbound: Inbound, current: SessionEntry | undefined): EntryPatch {
  const parts = readKey(key)
  const channel = clean(inbound.channel)?.toLowerCase() ?? parts?.channel
  const chatType = chatTypeOf(inbound.chatType) ?? chatTypeOf(parts?.kind)
  const isGroup = chatType === 'group' || chatType === 'channel'
  const origin = originOf(inbound, channel, chatType, current?.origin)
  const group = isGroup ? groupOf(inbound, channel, parts?.id) : {}
  const patch: EntryPatch = present({ chatType, channel, origin, ...group })
  const delivery = mergeDelivery(
    present({ channel, threadId: inbound.threadId }),
    deliveryOf({ ...current, ...(patch as Partial<SessionEntry>) }),
  )
  return { ...patch, ...present(deliveryFields(delivery)) }
}

/** Where a reply to this message goes: the channel it came over, the recipient, the account, the thread. */
export function routeOf(key: ConversationKey, { channel, to, accountId, threadId }: Inbound): DeliveryContext {
  return present({
    channel: clean(channel) ?? readKey(key)?.channel,
    to: clean(to),
    accountId: clean(accountId),
    threadId,
  })
}

function originOf(
  inbound: Inbound,
  provider: string | undefined,
  chatType: SessionChatType | undefined,
  before: SessionOrigin | undefined,
): SessionOrigin | undefined {
  const said = present({
    label: clean(inbound.label),
    provider,
    surface: clean(inbound.surface)?.toLowerCase(),
    chatType,
    from: clean(inbound.from),
    to: clean(inbound.to),
    accountId: clean(inbound.accountId),
    threadId: inbound.threadId,
  })
  const origin = { ...before, ...said }
  return Object.keys(origin).length > 0 ? origin : undefined
}

function groupOf(inbound: Inbound, channel: string | undefined, idInKey: string | undefined): EntryPatch {
  const groupId = clean(inbound.group?.id) ?? idInKey
  const subject = clean(inbound.group?.subject)
  const groupChannel = clean(inbound.group?.channel)
  const space = clean(inbound.group?.space)
  const name =
    groupChannel && space
      ? `${space}${groupChannel.startsWith('#') ? '' : '#'}${groupChannel}`
      : (groupChannel ?? subject ?? space ?? groupId)
  return present({ groupId, subject, groupChannel, space, displayName: displayName(channel ?? 'group', name) })
}

/** `discord:g-dev-team`, `slack:acme#general`: short, one word, and safe in any list. */
function displayName(channel: string, name: string | undefined): string {
  const word = (name ?? '')
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}#@._+-]+/gu, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
  if (word === '') return channel
  return `${channel}:${/[@#]/.test(word) || word.startsWith('g-') ? word : `g-${word}`}`
}

export function chatTypeOf(word: string | undefined): SessionChatType | undefined {
  switch (word?.trim().toLowerCase()) {
    case 'dm':
    case 'direct':
      return 'dm'
    case 'group':
      return 'group'
    case 'channel':
    case 'room':
      return 'channel'
    default:
      return undefined
  }
}

/** `/new` and `/reset` at the start of a message begin a new session; the rest of the message is its first words. */
export function resetCommandIn(text: string | undefined): { reason: 'new' | 'reset'; rest: string } | undefined {
  const found = /^\s*\/(new|reset)(?:\s+(.*))?$/is.exec(text ?? '')
  if (!found) return undefined
  return { reason: found[1]?.toLowerCase() === 'new' ? 'new' : 'reset', rest: found[2]?.trim() ?? '' }
}

function readKey(key: string) {
  try {
    return parseKey(key)
  } catch {
    return undefined // the functions of the original take bare keys too
  }
}

const clean = (text: string | undefined): string | undefined => text?.trim() || undefined

/** The fields that have a value. */
function present<T extends object>(fields: T): { [Field in keyof T]?: Exclude<T[Field], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Field in keyof T]?: Exclude<T[Field], undefined>
  }
}
