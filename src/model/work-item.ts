import type { Event, StateEvent } from './event.js'
import type { AgentId } from './ids.js'
import type { Mail } from './mail.js'
import type { Instant } from './time.js'
import { type HandoffRecord, isHooked, type WorkUnit } from './work.js'

/** What the journal keeps of work: units, mails, and each agent's record of handoffs. */
export interface ItemValues {
  work: WorkUnit
  mail: Mail
  handoff: HandoffRecord
}
export type ItemKind = keyof ItemValues
export type WorkItem = { [Kind in ItemKind]: { kind: Kind; value: ItemValues[Kind] } }[ItemKind]

export interface ItemKey {
  kind: ItemKind
  id: string
}

/**
 * What an event does to items. It carries each item whole, so that the newest event of an item is all that is needed of it: a rebuild
 * reads no other, and retention may take all others away.
 */
export function itemsOf(event: Event): { put?: WorkItem; gone?: readonly ItemKey[] } | undefined {
  const state = event as StateEvent
  switch (state.type) {
    case 'work_changed':
      return { put: { kind: 'work', value: state.payload.unit } }
    case 'mail_changed':
      return { put: { kind: 'mail', value: state.payload.mail } }
    case 'handoff_recorded':
      return { put: { kind: 'handoff', value: state.payload.record } }
    case 'work_forgotten':
      return { gone: state.payload.items }
    default:
      return undefined
  }
}

/** What items are found by. */
export interface ItemFacts {
  agent_id?: AgentId
  address?: string
  group?: string
  status: string
  is_hooked: boolean
  /** Nobody has to do anything about it any more: it may be forgotten some day. */
  is_settled: boolean
  priority: number
  at: Instant
}

export function factsOfItem(item: WorkItem): ItemFacts {
  switch (item.kind) {
    case 'work': {
      const { agent_id, agent, group, status, priority, created_at, closed_at } = item.value
      const is_settled = status === 'done'
      return {
        ...owner(agent_id, agent),
        ...(group === undefined ? {} : { group }),
        status,
        is_hooked: agent !== undefined && isHooked(item.value),
        is_settled,
        priority,
        at: (is_settled ? closed_at : undefined) ?? created_at,
      }
    }
    case 'mail': {
      const { to_agent_id, to, read_at, priority, sent_at, is_hooked = false } = item.value
      const status = read_at === undefined ? 'unread' : 'read'
      const is_settled = read_at !== undefined && !is_hooked
      return { ...owner(to_agent_id, to), status, is_hooked, is_settled, priority, at: sent_at }
    }
    case 'handoff': {
      const { agent_id, agent, updated_at } = item.value
      const rest = { status: 'pinned', is_hooked: false, is_settled: false, priority: 0, at: updated_at }
      return { ...owner(agent_id, agent), ...rest }
    }
  }
}

const owner = (
  agent_id: AgentId | undefined,
  address: string | undefined,
): Pick<ItemFacts, 'agent_id' | 'address'> => ({
  ...(agent_id === undefined ? {} : { agent_id }),
  ...(address === undefined ? {} : { address }),
})

/** The item with the address that its agent has now. */
export function withAddress(item: WorkItem, address: string | undefined): WorkItem {
  if (address === undefined) return item
  const name = item.kind === 'mail' ? 'to' : 'agent'
  return { ...item, value: { ...item.value, [name]: address } } as WorkItem
}
