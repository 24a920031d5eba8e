import type { SessionEntry } from './entry.js'

/** Where a reply goes. */
export type DeliveryContext = {
  channel?: string
  to?: string
  accountId?: string
  threadId?: string | number
}

/** Trims texts, lower-cases the channel, drops what is empty; undefined when nothing is left. */
export function normalizeDelivery(context: DeliveryContext | undefined): DeliveryContext | undefined {
  if (!context) return undefined
  const channel = context.channel?.trim().toLowerCase()
  const to = context.to?.trim()
  const accountId = context.accountId?.trim()
  const threadId = typeof context.threadId === 'string' ? context.threadId.trim() : context.threadId
  const normal: DeliveryContext = {
    ...(channel ? { channel } : {}),
    ...(to ? { to } : {}),
    ...(accountId ? { accountId } : {}),
    ...(threadId !== undefined && threadId !== '' ? { threadId } : {}),
  }
  return Object.keys(normal).length > 0 ? normal : undefined
}

/** `primary` where it says something, `fallback` elsewhere. */
export function mergeDelivery(
  primary: DeliveryContext | undefined,
  fallback: DeliveryContext | undefined,
): DeliveryContext | undefined {
  return normalizeDelivery({ ...normalizeDelivery(fallback), ...normalizeDelivery(primary) })
}

/** What an entry knows about its delivery: the four older fields first, because old programs write only those. */
export function deliveryOf(entry: Partial<SessionEntry>): DeliveryContext | undefined {
  const { lastTo: to, lastAccountId: accountId, lastThreadId: threadId } = entry
  const channel = entry.lastChannel ?? entry.channel
  const last: DeliveryContext = {
    ...(channel === undefined ? {} : { channel }),
    ...(to === undefined ? {} : { to }),
    ...(accountId === undefined ? {} : { accountId }),
    ...(threadId === undefined ? {} : { threadId }),
  }
  const begun = entry.origin?.threadId
  return mergeDelivery(
    last,
    mergeDelivery(entry.deliveryContext, begun === undefined ? undefined : { threadId: begun }),
  )
}

/** The fields of an entry that say one delivery: the structured one and the older four, always in step. */
export function deliveryFields(delivery: DeliveryContext | undefined) {
  return {
    deliveryContext: delivery,
    lastChannel: delivery?.channel,
    lastTo: delivery?.to,
    lastAccountId: delivery?.accountId,
    lastThreadId: delivery?.threadId,
  }
}
