import { type Ask, shownReason } from '../../model/index.js'
import { redactAsCommand } from '../../privacy/index.js'
import type { SeenAgent } from '../watch/agent-table.js'

/** What a user is notified of: an agent needs an answer, has failed, is stuck, or has finished and nobody has looked yet. */
export const NOTICE_KINDS = ['waiting', 'failed', 'stuck', 'finished', 'budget'] as const
export type NoticeKind = (typeof NOTICE_KINDS)[number]
/** Those that the status of an agent leads to. */
type StatusNotice = Exclude<NoticeKind, 'budget'>

export interface Notice {
  readonly kind: NoticeKind
  /** Identifies this wait or failure, so that it is reported once. */
  readonly key: string
  readonly agent: string
  readonly since: string
  readonly title: string
  readonly body: string
  /** Everything that it asks, each with the token that answers it. */
  readonly asks?: readonly Ask[]
}

type Seen = Pick<
  SeenAgent,
  'address' | 'status' | 'since' | 'reason' | 'waiting_for' | 'trouble' | 'token' | 'asks' | 'archived_at'
>

/** What there is to tell about an agent now, if anything. Its reason may quote a command, so secrets are taken out first. */
export function noticeOf(agent: Seen): Notice | undefined {
  const kind = kindOf(agent)
  if (!kind || agent.archived_at !== undefined) return undefined
  return {
    kind,
    key: kind === 'stuck' ? `stuck-${agent.reason}` : (agent.token ?? `${agent.status}-${agent.since}`),
    agent: agent.address,
    since: agent.since,
    title: `${agent.address} ${PHRASES[kind]}`,
    body: oneLine(redactAsCommand(bodyOf(agent)).text),
    ...(agent.asks ? { asks: agent.asks } : {}),
  }
}

const bodyOf = (seen: Seen): string => shownReason(seen) ?? seen.trouble ?? ''

function kindOf({ status, waiting_for, trouble }: Seen): StatusNotice | undefined {
  if (status === 'error') return 'failed'
  if (trouble === 'stuck') return 'stuck'
  if (status !== 'waiting') return undefined
  return waiting_for === 'finished' ? 'finished' : 'waiting'
}

/** Who was put to sleep with a reply that nobody has seen was reported before; it is still one to go to. */
const unseenOf = ({ status, waiting_for }: Seen): 'finished' | undefined =>
  status === 'asleep' && waiting_for === 'finished' ? waiting_for : undefined

const PHRASES: Readonly<Record<StatusNotice, string>> = {
  waiting: 'waits for you',
  failed: 'has failed',
  stuck: 'is stuck',
  finished: 'has finished',
}

/** What a terminal, a desktop or a program could act on becomes a space. */
export const oneLine = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .slice(0, 300)

/**
 * The one to go to: who needs an answer comes first, then who has failed, then who has finished; among equals the one
 * that has waited longest.
 */
export function nextOf<Agent extends Seen>(agents: readonly Agent[]): Agent | undefined {
  const rank: Readonly<Record<StatusNotice, number>> = { waiting: 0, failed: 1, stuck: 2, finished: 3 }
  const waiting = agents.flatMap((agent) => {
    const kind = agent.archived_at === undefined ? (kindOf(agent) ?? unseenOf(agent)) : undefined
    return kind ? [{ agent, order: `${rank[kind]}${agent.since}` }] : []
  })
  return waiting.sort((a, b) => (a.order < b.order ? -1 : 1))[0]?.agent
}
