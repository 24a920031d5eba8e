import {
  HANDOFF_PRIORITY,
  type HandoffEntry,
  type HandoffRecord,
  type Instant,
  isHooked,
  type Mail,
  type MailId,
  type SessionId,
  USUAL_PRIORITY,
  type WorkId,
  type WorkUnit,
} from '../model/index.js'
import type { ChangeState, Draft, ProfileStore } from '../store/index.js'
import { isDone, mailNotFound, takenBy, workNotFound } from './work-errors.js'
import {
  DEFAULT_LIMIT,
  type Health,
  type Hooked,
  type Inbox,
  MOST_ENTRIES,
  type NewMail,
  type NewWork,
  type WorkAgent,
  type WorkFilter,
  type WorkProvider,
} from './work-provider.js'

/** Without letters and digits that look alike: ids are read aloud and typed. */
const LETTERS = '23456789abcdefghjkmnpqrstuvwxyz'
const ID_LENGTH = 6

/** No profile has more agents that run at once. */
const MOST_HOOKED = 10_000

/** Work and mail in the profile's journal. Each change carries the whole unit or mail, and is decided where it is written. */
export class BuiltInWork implements WorkProvider {
  constructor(private readonly store: ProfileStore) {}

  async keeper(): Promise<'built-in'> {
    return 'built-in'
  }

  async health(): Promise<Health> {
    return { ok: true }
  }

  async add({ title, body, priority = USUAL_PRIORITY, group, molecule_id }: NewWork): Promise<WorkUnit> {
    const { actor } = this.store.context
    return this.#changeUnit((state) => ({
      id: this.#newId(state, 'work') as WorkId,
      title,
      ...(body === undefined ? {} : { body }),
      status: 'open',
      priority,
      ...(group === undefined ? {} : { group }),
      ...(molecule_id === undefined ? {} : { molecule_id }),
      created_at: state.now,
      updated_at: state.now,
      created_by: actor,
    }))
  }

  async list({ agent, group, status, limit = DEFAULT_LIMIT }: WorkFilter = {}): Promise<WorkUnit[]> {
    const sought = {
      kind: 'work',
      ...(agent ? { agent } : {}),
      ...(group === undefined ? {} : { group }),
      limit,
    } as const
    const open = status?.filter((one) => one !== 'done')
    const units: WorkUnit[] = []
    if (open === undefined || open.length > 0) {
      const filter = { ...sought, isSettled: false, order: 'urgent', ...(open ? { status: open } : {}) } as const
      units.push(...(await this.store.ask((index) => index.items(filter))))
    }
    if (status?.includes('done') && units.length < limit) {
      const rest = { ...sought, isSettled: true, order: 'newest', limit: limit - units.length } as const
      units.push(...(await this.store.ask((index) => index.items(rest))))
    }
    return units
  }

  async show(id: string): Promise<WorkUnit> {
    const unit = await this.store.ask((index) => index.item('work', id))
    if (!unit) throw workNotFound(id)
    return unit
  }

  async hook(id: string, agent: WorkAgent): Promise<WorkUnit> {
    return this.#changeUnit((state) => {
      const unit = unitIn(state, id)
      if (unit.status === 'done') throw isDone(unit)
      if (isHooked(unit)) {
        if (isSame(unit, agent)) return unit
        const isGone = unit.agent_id !== undefined && !state.roster.agents.has(unit.agent_id)
        if (!isGone) throw takenBy(unit)
      }
      const { reason: _, agent_id, ...rest } = unit
      return { ...rest, status: 'hooked', ...owned(agent), updated_at: state.now }
    }, 'hook')
  }

  async unhook(id: string): Promise<WorkUnit> {
    return this.#changeUnit((state) => {
      const unit = unitIn(state, id)
      if (unit.status === 'done') throw isDone(unit)
      return isHooked(unit) ? { ...released(unit), status: 'open', updated_at: state.now } : unit
    }, 'unhook')
  }

  async begin(id: string): Promise<WorkUnit> {
    return this.#changeUnit((state) => {
      const unit = unitIn(state, id)
      return unit.status === 'hooked' ? { ...unit, status: 'in_progress', updated_at: state.now } : unit
    })
  }

  async detach(id: string): Promise<WorkUnit> {
    return this.#changeUnit((state) => {
      const { molecule_id, ...unit } = unitIn(state, id)
      return molecule_id === undefined ? unit : { ...unit, updated_at: state.now }
    })
  }

  async close(id: string, { status, reason, session }: Parameters<WorkProvider['close']>[1]): Promise<WorkUnit> {
    const why = reason === undefined ? {} : { reason }
    return this.#changeUnit(
      (state) => {
        const unit = unitIn(state, id)
        if (unit.status === 'done') {
          if (status === 'done') return unit
          throw isDone(unit)
        }
        if (status !== 'done') {
          const { reason: _, ...rest } = released(unit)
          return { ...rest, status, ...why, updated_at: state.now }
        }
        const { reason: _, ...rest } = unit
        const by = session === undefined ? {} : { closed_by_session: session }
        return { ...rest, status, ...why, closed_at: state.now, ...by, updated_at: state.now }
      },
      status === 'done' ? 'done' : 'unhook',
      session,
    )
  }

  async hooked(agent: WorkAgent): Promise<Hooked> {
    const sought = { agent, isHooked: true, isSettled: false, order: 'urgent', limit: DEFAULT_LIMIT } as const
    return {
      work: await this.store.ask((index) => index.items({ kind: 'work', ...sought })),
      mail: await this.store.ask((index) => index.items({ kind: 'mail', ...sought })),
    }
  }

  async hookedMail(): Promise<Mail[]> {
    const sought = { isHooked: true, isSettled: false, order: 'urgent', limit: MOST_HOOKED } as const
    return this.store.ask((index) => index.items({ kind: 'mail', ...sought }))
  }

  async send(mail: NewMail): Promise<Mail> {
    const { actor } = this.store.context
    const { to, from, subject, body, kind = 'message', from_session, for_session, reply_to, is_hooked } = mail
    const priority = mail.priority ?? (kind === 'handoff' ? HANDOFF_PRIORITY : USUAL_PRIORITY)
    return this.#changeMail(
      (state) => {
        const id = this.#newId(state, 'mail') as MailId
        const thread_id = reply_to === undefined ? id : mailIn(state, reply_to).thread_id
        return {
          id,
          from: from?.address ?? actor,
          ...(from?.id === undefined ? {} : { from_agent_id: from.id }),
          to: to.address,
          ...(to.id === undefined ? {} : { to_agent_id: to.id }),
          ...{ subject, body, kind, priority, sent_at: state.now, thread_id },
          ...(reply_to === undefined ? {} : { reply_to }),
          ...(from_session === undefined ? {} : { from_session }),
          ...(for_session === undefined ? {} : { for_session }),
          ...(is_hooked ? { is_hooked } : {}),
        }
      },
      ({ id }) => [
        { type: 'mail', agent: to.address, session: from_session, payload: { to: to.address, subject, mail: id } },
      ],
    )
  }

  async inbox(
    agent: WorkAgent,
    { all = false, limit = DEFAULT_LIMIT }: { all?: boolean; limit?: number } = {},
  ): Promise<Inbox> {
    const unread = { kind: 'mail', agent, status: ['unread'], isSettled: false } as const
    const mail = await this.store.ask((index) =>
      index.items(all ? { kind: 'mail', agent, order: 'newest', limit } : { ...unread, order: 'urgent', limit }),
    )
    return { mail, unread: await this.store.ask((index) => index.countItems(unread)) }
  }

  async readMail(id: string, { session, peek = false }: { session?: SessionId; peek?: boolean } = {}): Promise<Mail> {
    if (!peek) return this.#changeMail((state) => asRead(mailIn(state, id), state.now, session))
    const mail = await this.store.ask((index) => index.item('mail', id))
    if (!mail) throw mailNotFound(id)
    return mail
  }

  async reply(id: string, { body, subject, from, from_session }: Parameters<WorkProvider['reply']>[1]): Promise<Mail> {
    const before = await this.readMail(id, { peek: true })
    const agents = await this.store.ask((index) => index.roster())
    const sender = before.from_agent_id && agents.agents.get(before.from_agent_id)
    const to = sender ?? { address: before.from as WorkAgent['address'] }
    return this.send({
      to,
      subject: subject ?? (before.subject.startsWith('Re: ') ? before.subject : `Re: ${before.subject}`),
      body,
      reply_to: before.id,
      ...(from ? { from } : {}),
      ...(from_session === undefined ? {} : { from_session }),
    })
  }

  async hookMail(id: string, agent: WorkAgent): Promise<Mail> {
    return this.#changeMail((state) => {
      const mail = mailIn(state, id)
      if (mail.is_hooked && isSame({ agent: mail.to, agent_id: mail.to_agent_id }, agent)) return mail
      if (mail.is_hooked) throw takenBy({ id: mail.id, agent: mail.to })
      const { to_agent_id: _, ...rest } = mail
      return {
        ...rest,
        to: agent.address,
        ...(agent.id === undefined ? {} : { to_agent_id: agent.id }),
        is_hooked: true,
      }
    })
  }

  async settleMail(id: string, { session }: { session?: SessionId } = {}): Promise<Mail> {
    return this.#changeMail((state) => {
      const before = mailIn(state, id)
      const mail = asRead(before, state.now, session)
      if (!mail.is_hooked) return mail
      const { is_hooked: _, ...rest } = mail
      return rest
    })
  }

  async handoffRecord(agent: WorkAgent): Promise<HandoffRecord | undefined> {
    return this.store.ask((index) => index.item('handoff', agent.id ?? agent.address))
  }

  async appendHandoffRecord(agent: WorkAgent, entry: Omit<HandoffEntry, 'at'>): Promise<HandoffRecord> {
    const id = agent.id ?? agent.address
    return this.store.change((state) => {
      const entries = [...(state.index.item('handoff', id)?.entries ?? []), { at: state.now, ...entry }]
      const record: HandoffRecord = {
        id,
        ...owned(agent),
        entries: entries.slice(-MOST_ENTRIES),
        updated_at: state.now,
      }
      return { events: [{ type: 'handoff_recorded', agent: agent.address, payload: { record } }], result: () => record }
    })
  }

  /** Appends what a unit becomes, and tells of it; a unit that stays as it is changes nothing. */
  #changeUnit(
    decide: (state: ChangeState) => WorkUnit,
    tells?: 'hook' | 'unhook' | 'done',
    session?: SessionId,
  ): Promise<WorkUnit> {
    return this.store.change((state) => {
      const unit = decide(state)
      const before = state.index.item('work', unit.id)
      if (unit === before || (before && JSON.stringify(before) === JSON.stringify(unit))) {
        return { events: [], result: () => unit }
      }
      const events: Draft[] = [{ type: 'work_changed', payload: { unit } }]
      const agent = unit.agent ?? before?.agent
      if (tells === 'hook' || tells === 'done' || (tells === 'unhook' && before?.agent !== undefined)) {
        const { status, reason } = unit
        events.push({ type: tells, agent, session, payload: { work_unit: unit.id, status, reason } })
      }
      return { events, result: () => unit }
    })
  }

  #changeMail(decide: (state: ChangeState) => Mail, tell: (mail: Mail) => Draft[] = () => []): Promise<Mail> {
    return this.store.change((state) => {
      const mail = decide(state)
      const before = state.index.item('mail', mail.id)
      const isSame = before !== undefined && JSON.stringify(before) === JSON.stringify(mail)
      const events: Draft[] = isSame ? [] : [{ type: 'mail_changed', payload: { mail } }, ...tell(mail)]
      return { events, result: () => mail }
    })
  }

  #newId({ index }: ChangeState, kind: 'work' | 'mail'): string {
    for (let length = ID_LENGTH; ; length += 1) {
      const letters = [...this.store.context.random.bytes(length)].map((byte) => LETTERS[byte % LETTERS.length])
      const id = `${kind === 'work' ? 'w' : 'm'}-${letters.join('')}`
      if (index.item(kind, id) === undefined) return id
    }
  }
}

function unitIn({ index }: ChangeState, id: string): WorkUnit {
  const unit = index.item('work', id)
  if (!unit) throw workNotFound(id)
  return unit
}

function mailIn({ index }: ChangeState, id: string): Mail {
  const mail = index.item('mail', id)
  if (!mail) throw mailNotFound(id)
  return mail
}

const isSame = (owner: { agent?: string | undefined; agent_id?: string | undefined }, agent: WorkAgent): boolean =>
  owner.agent_id === undefined || agent.id === undefined ? owner.agent === agent.address : owner.agent_id === agent.id

const owned = ({ address, id }: WorkAgent): Pick<HandoffRecord, 'agent' | 'agent_id'> => ({
  agent: address,
  ...(id === undefined ? {} : { agent_id: id }),
})

function released({ agent: _, agent_id: __, ...unit }: WorkUnit): WorkUnit {
  return unit
}

const asRead = (mail: Mail, now: Instant, session: SessionId | undefined): Mail =>
  mail.read_at === undefined ? { ...mail, read_at: now, ...(session === undefined ? {} : { read_by: session }) } : mail
