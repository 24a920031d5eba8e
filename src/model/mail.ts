import type { AgentAddress } from './address.js'
import type { AgentId, MailId, SessionId } from './ids.js'
import type { Instant } from './time.js'
import type { Priority } from './work.js'

export const MAIL_KINDS = ['message', 'handoff'] as const
export type MailKind = (typeof MAIL_KINDS)[number]
export const HANDOFF_PRIORITY: Priority = 1

/** A message that waits for its reader. */
export interface Mail {
  id: MailId
  /** An agent's address, or a person's name. */
  from: string
  from_agent_id?: AgentId
  to: AgentAddress
  to_agent_id?: AgentId
  subject: string
  body: string
  kind: MailKind
  priority: Priority
  sent_at: Instant
  thread_id: MailId
  reply_to?: MailId
  from_session?: SessionId
  /** The session the recipient was in when it was sent. */
  for_session?: SessionId
  read_at?: Instant
  read_by?: SessionId
  /** On its recipient's hook, as handoffs are until the successor has taken them over. */
  is_hooked?: boolean
  /** Derived for its reader: it was meant for a predecessor. */
  is_stale?: boolean
}

/** A message to a predecessor is stale for its successor. Decided by session ids alone; a handoff is meant for the successor. */
export function isStaleFor({ kind, for_session }: Mail, session: SessionId | undefined): boolean {
  return kind !== 'handoff' && for_session !== undefined && session !== undefined && for_session !== session
}
