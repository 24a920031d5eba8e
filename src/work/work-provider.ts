import type {
  AgentAddress,
  AgentId,
  ClosedStatus,
  GroupPath,
  HandoffEntry,
  HandoffRecord,
  Mail,
  MailId,
  MailKind,
  Priority,
  SessionId,
  WorkStatus,
  WorkUnit,
} from '../model/index.js'

/** An agent as work and mail name it. The id finds it again after a rename; an address without one is a role's or a person's. */
export interface WorkAgent {
  readonly address: AgentAddress
  readonly id?: AgentId
}

export interface NewWork {
  title: string
  body?: string
  priority?: Priority
  group?: GroupPath
  molecule_id?: string
}

export interface WorkFilter {
  agent?: WorkAgent
  group?: GroupPath
  /** Without it everything that is not done. */
  status?: readonly WorkStatus[]
  /** 100 unless said otherwise. */
  limit?: number
}

export interface NewMail {
  to: WorkAgent
  subject: string
  body: string
  kind?: MailKind
  priority?: Priority
  /** Who it is from; the actor unless said otherwise. */
  from?: WorkAgent
  from_session?: SessionId
  /** The session the recipient is in; the one its agent is in now unless said otherwise. */
  for_session?: SessionId
  reply_to?: MailId
  /** Put it on the recipient's hook in the same change. */
  is_hooked?: boolean
}

/** What is on an agent's hook. */
export interface Hooked {
  work: WorkUnit[]
  mail: Mail[]
  /** Why the units could not be read, where another program keeps them. The mail is there all the same. */
  problem?: WorkProblem
}

export interface WorkProblem {
  because: string
  next: string
}

export interface Inbox {
  /** Handoffs first, what was meant for a predecessor last. */
  mail: Mail[]
  unread: number
}

export type Health = { ok: true } | ({ ok: false } & WorkProblem)

/** Where work and mail are kept. One contract; its suite is `test/contracts/work-provider.ts`. */
export interface WorkProvider {
  /** What config.toml calls whoever keeps the units. */
  keeper(): Promise<'built-in' | 'beads'>
  health(): Promise<Health>
  add(work: NewWork): Promise<WorkUnit>
  /** The most urgent first; what is done, newest first. */
  list(filter?: WorkFilter): Promise<WorkUnit[]>
  /** Throws `work-not-found`. */
  show(id: string): Promise<WorkUnit>
  /** Of several agents that want a unit at once exactly one gets it; the others get `work-taken`. Its owner gets it again. */
  hook(id: string, agent: WorkAgent): Promise<WorkUnit>
  unhook(id: string): Promise<WorkUnit>
  /** Work on it has begun: it stays on its hook. */
  begin(id: string): Promise<WorkUnit>
  /** The plan that it follows is taken off it. */
  detach(id: string): Promise<WorkUnit>
  close(id: string, as: { status: ClosedStatus; reason?: string; session?: SessionId }): Promise<WorkUnit>
  /** Waits at most so long for another program. */
  hooked(agent: WorkAgent, options?: { waitMs?: number }): Promise<Hooked>
  /** The mail on the hooks of all agents. No other program is asked. */
  hookedMail(): Promise<Mail[]>
  send(mail: NewMail): Promise<Mail>
  inbox(agent: WorkAgent, options?: { all?: boolean; session?: SessionId; limit?: number }): Promise<Inbox>
  /** Marks it as read, unless it is only looked at. */
  readMail(id: string, options?: { session?: SessionId; peek?: boolean }): Promise<Mail>
  /** A mail to whoever sent that one. */
  reply(
    id: string,
    reply: { body: string; subject?: string; from?: WorkAgent; from_session?: SessionId },
  ): Promise<Mail>
  hookMail(id: string, agent: WorkAgent): Promise<Mail>
  /** Takes it off the hook; it is read. */
  settleMail(id: string, by?: { session?: SessionId }): Promise<Mail>
  handoffRecord(agent: WorkAgent): Promise<HandoffRecord | undefined>
  /** The newest entries are kept. */
  appendHandoffRecord(agent: WorkAgent, entry: Omit<HandoffEntry, 'at'>): Promise<HandoffRecord>
}

/** So many entries a pinned record keeps. */
export const MOST_ENTRIES = 50
export const DEFAULT_LIMIT = 100
