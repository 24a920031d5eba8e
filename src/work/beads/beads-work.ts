import {
  type AgentId,
  isHooked,
  isWithin,
  isWorkId,
  type Roster,
  type SessionId,
  SkeinError,
  USUAL_PRIORITY,
  type WorkStatus,
  type WorkUnit,
} from '../../model/index.js'
import type { ProfileStore } from '../../store/index.js'
import type { BuiltInWork } from '../built-in-work.js'
import { isDone, takenBy, workNotFound } from '../work-errors.js'
import {
  DEFAULT_LIMIT,
  type Health,
  type Hooked,
  type NewWork,
  type WorkAgent,
  type WorkFilter,
  type WorkProvider,
} from '../work-provider.js'
import { type Bd, type BdCall, STALE } from './bd.js'
import { type Issue, type IssueNotes, issueOf, storedStatus, storedTitle } from './issue.js'

/** A change that others overtake so often is not tried again. */
const MOST_TRIES = 5
/** Issues of Gas Town that are nobody's work. */
const NO_WORK = 'gt:message,gt:agent,gt:role,gt:rig'

/**
 * Units of work as issues of beads, by its `bd` program. Mail and the records of handoffs stay in the profile's journal: they hold what was
 * said in conversations, which a purge must reach and retention must end, and a handoff must succeed when `bd` does not.
 */
export class BeadsWork implements WorkProvider {
  constructor(
    private readonly bd: Bd,
    private readonly store: ProfileStore,
    private readonly mail: BuiltInWork,
  ) {}

  async keeper(): Promise<'beads'> {
    return 'beads'
  }

  async health(): Promise<Health> {
    try {
      await this.bd.json(['ping'])
      return { ok: true }
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error
      return { ok: false, because: error.message, next: error.next ?? 'Try: bd doctor' }
    }
  }

  async add({ title, body = '', priority = USUAL_PRIORITY, group, molecule_id }: NewWork): Promise<WorkUnit> {
    const stored = storedTitle(title)
    const notes: IssueNotes = {
      ...stored.notes,
      ...(group === undefined ? {} : { skein_group: group }),
      ...(molecule_id === undefined ? {} : { skein_molecule_id: molecule_id }),
    }
    const about = [`--title=${stored.title}`, `--priority=${priority}`, `--metadata=${JSON.stringify(notes)}`]
    const args = ['create', ...about, '--body-file=-', '--allow-empty-description']
    return (await this.#issue(await this.bd.json(args, { input: body }))).unit
  }

  async list({ agent, group, status, limit = DEFAULT_LIMIT }: WorkFilter = {}): Promise<WorkUnit[]> {
    const isWanted = (unit: WorkUnit): boolean =>
      (group === undefined || (unit.group !== undefined && isWithin(unit.group, group))) &&
      (agent === undefined || isOwner(unit, agent))
    const open = status?.filter((one) => one !== 'done')
    const units: WorkUnit[] = []
    if (open === undefined || open.length > 0) {
      const found = (await this.#list(['--no-pinned'])).filter(({ status: one }) => (open ?? [one]).includes(one))
      units.push(...found.filter(isWanted).sort(byUrgency).slice(0, limit))
    }
    if (status?.includes('done') && units.length < limit) {
      const isSome = agent !== undefined || group !== undefined
      const by = [
        ...(agent === undefined ? [] : ['--has-metadata-key=skein_agent_id']),
        ...(agent !== undefined || group === undefined ? [] : ['--has-metadata-key=skein_group']),
      ]
      const most = isSome ? 0 : limit - units.length
      const closed = await this.#list(['--status=closed', '--sort=closed', ...by], {}, most)
      units.push(
        ...closed
          .filter(isWanted)
          .sort(byClosing)
          .slice(0, limit - units.length),
      )
    }
    return units
  }

  async show(id: string): Promise<WorkUnit> {
    return (await this.#found(id)).unit
  }

  async hook(id: string, agent: WorkAgent): Promise<WorkUnit> {
    return this.#change(id, 'hook', ({ unit }) => {
      if (unit.status === 'done') throw isDone(unit)
      if (isHooked(unit)) {
        if (isOwner(unit, agent)) return undefined
        throw takenBy(unit)
      }
      const known = agent.id === undefined ? [] : noted({ skein_agent: agent.address, skein_agent_id: agent.id })
      const others = agent.id === undefined ? without('skein_agent', 'skein_agent_id') : []
      return [...statusIs('hooked', agent.address), ...known, ...others, ...without('skein_reason', 'skein_reason_for')]
    })
  }

  async unhook(id: string): Promise<WorkUnit> {
    return this.#change(id, 'unhook', ({ unit }) => {
      if (unit.status === 'done') throw isDone(unit)
      return isHooked(unit) ? [...statusIs('open', ''), ...without('skein_agent', 'skein_agent_id')] : undefined
    })
  }

  async begin(id: string): Promise<WorkUnit> {
    return this.#change(id, undefined, ({ unit }) => (unit.status === 'hooked' ? ['--status=in_progress'] : undefined))
  }

  async detach(id: string): Promise<WorkUnit> {
    return this.#change(id, undefined, ({ unit }) =>
      unit.molecule_id === undefined ? undefined : without('skein_molecule_id'),
    )
  }

  async close(id: string, { status, reason, session }: Parameters<WorkProvider['close']>[1]): Promise<WorkUnit> {
    if (status === 'done') return this.#closeDone(id, reason, session)
    const why = reason === undefined ? without('skein_reason', 'skein_reason_for') : noted(reasonFor(status, reason))
    return this.#change(id, 'unhook', ({ unit }) => {
      if (unit.status === 'done') throw isDone(unit)
      return [...statusIs(status, ''), ...without('skein_agent', 'skein_agent_id'), ...why]
    })
  }

  async hooked(agent: WorkAgent, { waitMs }: { waitMs?: number } = {}): Promise<Hooked> {
    const [work, { mail }] = await Promise.all([
      this.#hookedUnits(agent, waitMs === undefined ? {} : { limitMs: waitMs }),
      this.mail.hooked(agent),
    ])
    return { ...work, mail }
  }

  hookedMail: WorkProvider['hookedMail'] = () => this.mail.hookedMail()
  send: WorkProvider['send'] = (mail) => this.mail.send(mail)
  inbox: WorkProvider['inbox'] = (agent, options) => this.mail.inbox(agent, options)
  readMail: WorkProvider['readMail'] = (id, options) => this.mail.readMail(id, options)
  reply: WorkProvider['reply'] = (id, reply) => this.mail.reply(id, reply)
  hookMail: WorkProvider['hookMail'] = (id, agent) => this.mail.hookMail(id, agent)
  settleMail: WorkProvider['settleMail'] = (id, by) => this.mail.settleMail(id, by)
  handoffRecord: WorkProvider['handoffRecord'] = (agent) => this.mail.handoffRecord(agent)
  appendHandoffRecord: WorkProvider['appendHandoffRecord'] = (agent, entry) =>
    this.mail.appendHandoffRecord(agent, entry)

  /** Its mail is on the agent's hook all the same where `bd` does not answer. */
  async #hookedUnits(agent: WorkAgent, call: BdCall): Promise<Omit<Hooked, 'mail'>> {
    try {
      const units = await this.#list(['--status=hooked,in_progress'], call)
      return { work: units.filter((unit) => isHooked(unit) && isOwner(unit, agent)).sort(byUrgency) }
    } catch (error) {
      if (!(error instanceof SkeinError && error.code === 'work-provider')) throw error
      return { work: [], problem: { because: error.message, next: error.next ?? 'Try: bd doctor' } }
    }
  }

  async #closeDone(id: string, reason: string | undefined, session: SessionId | undefined): Promise<WorkUnit> {
    const before = await this.#found(id)
    if (before.unit.status === 'done') return before.unit
    const by = session === undefined ? [] : [`--session=${session}`]
    // `bd close` refuses what is assigned to somebody else, unless it is forced to close what is blocked too.
    if (before.assignee !== '' && before.assignee !== this.store.context.actor) {
      const why = reason === undefined ? [] : noted(reasonFor('done', reason))
      return this.#change(id, 'done', ({ unit }) =>
        unit.status === 'done' ? undefined : ['--status=closed', ...by, ...why],
      )
    }
    const args = ['close', ...by, ...(reason === undefined ? [] : ['--reason-file=-']), '--', before.unit.id]
    const closed = await this.#only(await this.bd.json(args, reason === undefined ? {} : { input: reason }), id)
    await this.#tell('done', closed.unit, before.unit, session)
    return closed.unit
  }

  /**
   * Decides on what is stored and writes only if that is still so; else decides again. `undefined` leaves the unit as it is.
   */
  async #change(
    id: string,
    tells: 'hook' | 'unhook' | 'done' | undefined,
    decide: (issue: Issue) => readonly string[] | undefined,
  ): Promise<WorkUnit> {
    for (let tries = 1; tries <= MOST_TRIES; tries += 1) {
      const before = await this.#found(id)
      const changes = decide(before)
      if (changes === undefined) return before.unit
      const still = [`--if-status=${before.status}`, `--if-assignee=${before.assignee}`]
      const answer = await this.bd.guarded(['update', ...still, ...changes, '--', before.unit.id])
      if (answer === STALE) continue
      const { unit } = await this.#only(answer, id)
      if (tells && (tells !== 'unhook' || before.unit.agent !== undefined))
        await this.#tell(tells, unit, before.unit, unit.closed_by_session)
      return unit
    }
    throw new SkeinError('home-busy', `Others keep changing ${id}`, 'Try again')
  }

  async #found(id: string): Promise<Issue> {
    if (!isWorkId(id)) throw workNotFound(id)
    return this.#only(await this.bd.json(['list', '--all', '--flat', '--limit=2', `--id=${id}`]), id)
  }

  async #list(args: readonly string[], call: BdCall = {}, limit = 0): Promise<WorkUnit[]> {
    const fixed = ['list', '--flat', `--limit=${limit}`, `--exclude-label=${NO_WORK}`]
    return (await this.#issues(await this.bd.json([...fixed, ...args], call))).map(({ unit }) => unit)
  }

  /** The issue with exactly this id: `bd` itself takes a part of one. */
  async #only(answer: unknown, id: string): Promise<Issue> {
    const found = (await this.#issues(answer)).find(({ unit }) => unit.id === id)
    if (!found) throw workNotFound(id)
    return found
  }

  /** One that cannot be read is reported, and hides no other. */
  async #issues(answer: unknown): Promise<Issue[]> {
    const { agents } = await this.#roster()
    return (Array.isArray(answer) ? answer : []).flatMap((json) => {
      try {
        return [issueOf(json, (id: AgentId) => agents.get(id)?.address)]
      } catch (error) {
        if (!(error instanceof SkeinError)) throw error
        this.store.context.warn(`${error.message}. ${error.next ?? ''}`)
        return []
      }
    })
  }

  async #issue(answer: unknown): Promise<Issue> {
    const { agents } = await this.#roster()
    return issueOf(answer, (id) => agents.get(id)?.address)
  }

  #roster(): Promise<Roster> {
    return this.store.ask((index) => index.roster())
  }

  /** The journal has what happened to whom, whoever keeps the unit. */
  async #tell(type: 'hook' | 'unhook' | 'done', unit: WorkUnit, before: WorkUnit, session?: SessionId): Promise<void> {
    const { id, status, reason } = unit
    const agent = unit.agent ?? before.agent
    await this.store.change(() => ({
      events: [{ type, agent, session, payload: { work_unit: id, status, reason } }],
      result: () => undefined,
    }))
  }
}

const statusIs = (status: WorkStatus, assignee: string): string[] => [
  `--status=${storedStatus(status)}`,
  `--assignee=${assignee}`,
]

const noted = (notes: IssueNotes): string[] =>
  Object.entries(notes).map(([name, value]) => `--set-metadata=${name}=${value}`)

const without = (...names: (keyof IssueNotes)[]): string[] => names.map((name) => `--unset-metadata=${name}`)

const reasonFor = (status: WorkStatus, reason: string): IssueNotes => ({
  skein_reason: reason,
  skein_reason_for: storedStatus(status),
})

const isOwner = ({ agent, agent_id }: WorkUnit, owner: WorkAgent): boolean =>
  agent_id === undefined || owner.id === undefined ? agent === owner.address : agent_id === owner.id

const byUrgency = (a: WorkUnit, b: WorkUnit): number =>
  a.priority - b.priority || compare(a.created_at, b.created_at) || compare(a.id, b.id)

const byClosing = (a: WorkUnit, b: WorkUnit): number =>
  compare(b.closed_at ?? b.updated_at, a.closed_at ?? a.updated_at) || compare(b.id, a.id)

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
