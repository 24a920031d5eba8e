import type { EntryPatch, SessionEntry } from './entry.js'

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

/** The four older fields, and what each is called in the structured form. */
const LAST = { lastChannel: 'channel', lastTo: 'to', lastAccountId: 'accountId', lastThreadId: 'threadId' } as const

/**
 * A change that names either form, extended to both. `deliveryContext` replaces the whole route; one of the older fields
 * replaces its part of it. A change that names neither comes back as it is.
 */
export function withRoute(current: SessionEntry | undefined, patch: EntryPatch): EntryPatch {
  const named = (Object.keys(LAST) as (keyof typeof LAST)[]).filter((field) => field in patch)
  if (named.length === 0 && !('deliveryContext' in patch)) return patch
  const route: DeliveryContext = { ...('deliveryContext' in patch ? patch.deliveryContext : deliveryOf(current ?? {})) }
  for (const field of named) {
    const value = patch[field]
    if (value === undefined) delete route[LAST[field]]
    else Object.assign(route, { [LAST[field]]: value })
  }
  return { ...patch, ...deliveryFields(normalizeDelivery(route)) }
}
