import { type DeliveryContext, deliveryFields, deliveryOf, mergeDelivery, normalizeDelivery } from './delivery.js'
import type { SessionEntry } from './entry.js'
import { type Inbound, metaFromInbound } from './inbound.js'
import type { ConversationKey } from './key.js'
import { changeEntry } from './rows/session-store.js'

/** A message as the original's gateways describe it; only the fields that say something about the conversation. */
export interface MsgContext {
  Body?: string
  From?: string
  To?: string
  SessionKey?: string
  AccountId?: string
  ChatType?: string
  MessageThreadId?: string | number
  Provider?: string
  Surface?: string
  OriginatingChannel?: string
  OriginatingTo?: string
  ConversationLabel?: string
  GroupSubject?: string
  GroupChannel?: string
  GroupSpace?: string
  SenderName?: string
}

/** What a channel found out about the group a message was sent in. */
export interface GroupKeyResolution {
  key: string
  channel?: string
  id?: string
  chatType?: 'group' | 'channel'
}

/** Notes who wrote, where and in which group. Null when there is no entry and none is to be made. */
export async function recordSessionMetaFromInbound(params: {
  storePath: string
  sessionKey: string
  ctx: MsgContext
  groupResolution?: GroupKeyResolution | null
  createIfMissing?: boolean
}): Promise<SessionEntry | null> {
  const { storePath, sessionKey, ctx, groupResolution, createIfMissing = true } = params
  return changeEntry(storePath, sessionKey, (current) =>
    current || createIfMissing
      ? metaFromInbound(sessionKey as ConversationKey, inboundOf(ctx, groupResolution ?? undefined), current)
      : null,
  )
}

/** Notes where the next reply goes. What is not said stays as it was. */
export async function updateLastRoute(params: {
  storePath: string
  sessionKey: string
  channel?: string
  to?: string
  accountId?: string
  threadId?: string | number
  deliveryContext?: DeliveryContext
  ctx?: MsgContext
  groupResolution?: GroupKeyResolution | null
}): Promise<SessionEntry> {
  const { storePath, sessionKey, channel, to, accountId, threadId, ctx, groupResolution } = params
  const entry = await changeEntry(storePath, sessionKey, (current) => {
    const said: DeliveryContext = {
      ...(channel === undefined ? {} : { channel }),
      ...(to === undefined ? {} : { to }),
      ...(accountId === undefined ? {} : { accountId }),
      ...(threadId === undefined ? {} : { threadId }),
    }
    const route = mergeDelivery(normalizeDelivery(params.deliveryContext), said)
    const meta = ctx
      ? metaFromInbound(sessionKey as ConversationKey, inboundOf(ctx, groupResolution ?? undefined), current)
      : {}
    return { ...meta, ...deliveryFields(mergeDelivery(route, current && deliveryOf(current))) }
  })
  if (!entry) throw new Error(`${sessionKey} is gone right after it was written`)
  return entry
}

function inboundOf(ctx: MsgContext, group: GroupKeyResolution | undefined): Inbound {
  const channel = ctx.OriginatingChannel ?? ctx.Provider ?? group?.channel
  const chatType = group?.chatType ?? ctx.ChatType
  const fields: { [Field in keyof Inbound]: Inbound[Field] | undefined } = {
    channel,
    surface: ctx.Surface ?? ctx.Provider,
    chatType: chatType as Inbound['chatType'],
    from: ctx.From,
    to: ctx.OriginatingTo ?? ctx.To,
    accountId: ctx.AccountId,
    threadId: ctx.MessageThreadId,
    label: ctx.ConversationLabel ?? ctx.GroupSubject ?? ctx.SenderName,
  }
  const named = { id: group?.id, subject: ctx.GroupSubject, channel: ctx.GroupChannel, space: ctx.GroupSpace }
  return { ...withValues(fields), group: withValues(named) }
}

const withValues = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Field in keyof T]?: Exclude<T[Field], undefined>
  }
