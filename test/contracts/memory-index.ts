import type { Awaitable, ItemQuery, SessionIndex, SessionPage, SessionQuery } from '../../src/index/index.js'
import {
  type Agent,
  type AgentAddress,
  applyToSession,
  type Event,
  type EventId,
  factsOfItem,
  type Group,
  groupLineage,
  type ItemKind,
  type ItemValues,
  isRosterEvent,
  itemsOf,
  Roster,
  type Session,
  type SessionId,
  SkeinError,
  sessionsTouchedBy,
  splitAddress,
  type WorkItem,
  withAddress,
} from '../../src/model/index.js'

type Answer<Name extends keyof SessionIndex> = Promise<Awaited<ReturnType<SessionIndex[Name]>>>

/**
 * The session index in memory, without SQL and without anything of `src/index`: it shows that the contract leans on no database. Every
 * answer comes later, as a server's would.
 */
export class MemoryIndex implements SessionIndex {
  readonly #sessions = new Map<SessionId, { session: Session; through: EventId }>()
  readonly #roster = new Roster([], [])
  #rosterThrough = ''
  readonly #items = new Map<string, { item: WorkItem }>()

  apply(events: readonly Event[]): Awaitable<void> {
    for (const event of events) {
      if (isRosterEvent(event) && event.id > this.#rosterThrough) {
        this.#roster.apply(event)
        this.#rosterThrough = event.id
      }
      for (const id of sessionsTouchedBy(event)) this.#fold(id, event)
      this.#applyToItems(event)
    }
  }

  #fold(id: SessionId, event: Event): void {
    const known = this.#sessions.get(id)
    if (known && event.id <= known.through) return
    const session = applyToSession(known?.session, id, event)
    if (session && session !== known?.session) this.#sessions.set(id, { session, through: event.id })
  }

  async get(id: SessionId): Answer<'get'> {
    const known = this.#sessions.get(id)
    return known && this.#asNow(known.session)
  }

  async idsWithPrefix(prefix: string, limit: number): Answer<'idsWithPrefix'> {
    return this.#ids()
      .filter((id) => id.startsWith(prefix))
      .slice(0, limit)
  }

  async shortIds(ids: readonly string[]): Answer<'shortIds'> {
    const isShort = (id: string, length: number): boolean =>
      id[length - 1] !== '-' && !this.#ids().some((other) => other !== id && other.startsWith(id.slice(0, length)))
    const short = (id: string): string => {
      let length = 8
      while (length < id.length && !isShort(id, length)) length += 1
      return id.slice(0, length)
    }
    return new Map(ids.map((id) => [id, short(id)]))
  }

  async list(query: SessionQuery): Answer<'list'> {
    const { limit = 50, cursor } = query
    if (!Number.isInteger(limit) || limit < 1 || limit > 10_000) throw new SkeinError('bad-input', 'a limit', '')
    const after = cursor === undefined ? undefined : placeOf(cursor)
    const fits = this.#all()
      .filter((session) => this.#fits(session, query) && (!after || compare(session, after) > 0))
      .sort(compare)
    const sessions = fits.slice(0, limit)
    const page: SessionPage = { sessions: sessions.map((session) => this.#asNow(session)) }
    const last = sessions.at(-1)
    return fits.length > limit && last ? { ...page, next_cursor: `${last.started_at} ${last.id}` } : page
  }

  async chain(chainId: SessionId): Answer<'chain'> {
    return this.#oldestFirst((session) => session.chain_id === chainId)
  }

  async forksOf(id: SessionId): Answer<'forksOf'> {
    return this.#oldestFirst((session) => session.forked_from?.session === id)
  }

  async chainsOfWork(workUnit: string): Answer<'chainsOfWork'> {
    return [...new Set(this.#oldestFirst(({ work_unit }) => work_unit === workUnit).map(({ chain_id }) => chain_id))]
  }

  async places(): Answer<'places'> {
    return new Map(
      this.#all().map((session) => {
        const { agent = null } = this.#asNow(session)
        const { chain_id: chain, work_unit: work = null, cwd: project = null, branch = null } = session
        const [rig = null] = ownRig(session)
        return [session.id, { agent, group: (agent && splitAddress(agent).group) ?? rig, chain, work, project, branch }]
      }),
    )
  }

  async agents(): Answer<'agents'> {
    return [...this.#roster.agents.values()].sort((a: Agent, b: Agent) => (a.address < b.address ? -1 : 1))
  }

  async groups(): Answer<'groups'> {
    return [...this.#roster.groups.values()].sort((a: Group, b: Group) => (a.path < b.path ? -1 : 1))
  }

  async roster(): Answer<'roster'> {
    return new Roster(await this.agents(), await this.groups())
  }

  async counts(): Answer<'counts'> {
    return { sessions: this.#sessions.size, agents: this.#roster.agents.size }
  }

  async item<Kind extends ItemKind>(kind: Kind, id: string): Promise<ItemValues[Kind] | undefined> {
    const known = this.#items.get(`${kind} ${id}`)
    return known && (this.#itemNow(known.item).value as ItemValues[Kind])
  }

  async items<Kind extends ItemKind>(query: ItemQuery & { kind: Kind }): Promise<ItemValues[Kind][]> {
    const found = [...this.#items.values()].map(({ item }) => item).filter((item) => this.#isSought(item, query))
    const rank = (item: WorkItem): string => {
      const { priority, at } = factsOfItem(item)
      return `${query.order === 'urgent' ? priority : ''} ${at} ${item.value.id}`
    }
    const sorted = found.sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
    if (query.order === 'newest') sorted.reverse()
    return sorted.slice(0, query.limit).map((item) => this.#itemNow(item).value as ItemValues[Kind])
  }

  async countItems(query: Omit<ItemQuery, 'order' | 'limit'>): Promise<number> {
    return [...this.#items.values()].filter(({ item }) => this.#isSought(item, query)).length
  }

  #itemNow(item: WorkItem): WorkItem {
    const { agent_id } = factsOfItem(item)
    return withAddress(item, agent_id && this.#roster.agents.get(agent_id)?.address)
  }

  #isSought(item: WorkItem, { kind, agent, group, status, isHooked, isSettled }: Partial<ItemQuery>): boolean {
    const facts = factsOfItem(item)
    const isGone = facts.agent_id === undefined || !this.#roster.agents.has(facts.agent_id)
    const isOwn =
      agent === undefined ||
      (agent.id !== undefined && facts.agent_id === agent.id) ||
      (isGone && facts.address === agent.address)
    return (
      item.kind === kind &&
      isOwn &&
      (group === undefined || facts.group === group || facts.group?.startsWith(`${group}/`) === true) &&
      (status === undefined || status.includes(facts.status)) &&
      (isHooked === undefined || facts.is_hooked === isHooked) &&
      (isSettled === undefined || facts.is_settled === isSettled)
    )
  }

  #applyToItems(event: Event): void {
    const { put, gone = [] } = itemsOf(event) ?? {}
    if (put) this.#items.set(`${put.kind} ${put.value.id}`, { item: put })
    for (const { kind, id } of gone) this.#items.delete(`${kind} ${id}`)
  }

  #all(): Session[] {
    return [...this.#sessions.values()].map(({ session }) => session)
  }

  #ids(): SessionId[] {
    return [...this.#sessions.keys()].sort()
  }

  #oldestFirst(isWanted: (session: Session) => boolean): Session[] {
    const wanted = this.#all().filter(isWanted).sort(compare).reverse()
    return wanted.map((session) => this.#asNow(session))
  }

  #asNow(session: Session): Session {
    const address = session.agent_id && this.#roster.agents.get(session.agent_id)?.address
    return address ? { ...session, agent: address } : session
  }

  #groupsOf(session: Session): string[] {
    return [...lineageOf(this.#asNow(session)), ...ownRig(session)]
  }

  #fits(session: Session, query: SessionQuery): boolean {
    const { agent, rig, since, until, outcome, directories, title, text } = query
    const same = (['role', 'tool', 'work_unit', 'chain_id'] as const).every(
      (name) => query[name] === undefined || session[name] === query[name],
    )
    const holds = (part: string): boolean => session.title?.toLowerCase().includes(part.toLowerCase()) === true
    return (
      same &&
      (agent === undefined ||
        this.#asNow(session).agent === agent ||
        (session.agent === agent && !this.#roster.at(agent as AgentAddress))) &&
      (rig === undefined || this.#groupsOf(session).includes(rig)) &&
      (since === undefined || session.started_at >= since) &&
      (until === undefined || session.started_at < until) &&
      (outcome === undefined || (session.outcome ?? 'active') === outcome) &&
      (directories === undefined || directories.some((one) => isIn(session.cwd, one))) &&
      (title === undefined || holds(title)) &&
      (text === undefined || session.id.startsWith(text) || holds(text))
    )
  }
}

/** Newest first. */
const compare = (a: Pick<Session, 'started_at' | 'id'>, b: Pick<Session, 'started_at' | 'id'>): number =>
  a.started_at === b.started_at ? (a.id < b.id ? 1 : a.id > b.id ? -1 : 0) : a.started_at < b.started_at ? 1 : -1

function placeOf(cursor: string): Pick<Session, 'started_at' | 'id'> {
  const [, started_at, id] = /^(\S+Z) (\S+)$/.exec(cursor) ?? []
  if (!started_at || !id) throw new SkeinError('bad-input', 'a cursor', '')
  return { started_at, id } as Pick<Session, 'started_at' | 'id'>
}

const lineageOf = ({ agent }: Session): string[] => {
  const group = agent === undefined ? undefined : splitAddress(agent).group
  return group ? groupLineage(group) : []
}

/** What only the session says: it does not follow the agent. */
const ownRig = (session: Session): string[] =>
  session.rig === undefined || lineageOf(session).includes(session.rig) ? [] : [session.rig]

const isIn = (cwd: string | undefined, directory: string): boolean =>
  cwd === directory || cwd?.startsWith(directory.endsWith('/') ? directory : `${directory}/`) === true
