import { type AgentId, type Context, type Instant, msOf } from '../../model/index.js'
import type { SeenAgent } from '../watch/agent-table.js'
import { type Notice, noticeOf } from './attention.js'
import type { NoticeBook } from './notice-book.js'
import { NoticeLimit } from './notice-limit.js'
import { type Delivery, deliver, type Outlets } from './notifier.js'
import { type NotifySettings, type Way, waysFor } from './notify-settings.js'

/** What began longer ago than this is no news: the daemon was away, and the list shows it anyway. */
const STALE_MS = 15 * 60_000
/** Above this number at once, the rest is sent as one notice: a screen full of them helps nobody. */
const AT_ONCE = 4

/** A notice that is to be told, to whom it is news. */
interface Wanted {
  readonly agent: AgentId
  readonly notice: Notice
  readonly ways: readonly Way[]
}

/** Tells users when an agent begins to wait, fails or finishes: once each, not while they look at it, and not too often. */
export class Notices {
  readonly #said = new Set<string>()
  readonly #limit = new NoticeLimit()
  /** What was too much to be told when it was new, the newest of each agent. */
  readonly #held = new Map<AgentId, Wanted>()
  #agents: readonly SeenAgent[] = []
  #telling: Promise<void> = Promise.resolve()

  constructor(
    private readonly book: NoticeBook,
    private readonly outlets: Outlets,
    private readonly clock: Context['clock'],
    private readonly say: (line: string) => void,
    /** Agents whose screen some terminal shows now. */
    private readonly shown: () => Promise<ReadonlySet<AgentId>> = () => Promise.resolve(new Set()),
  ) {}

  /** Looks at all agents and tells what is new. Never rejects: a notice that fails is a line in the log. */
  look(agents: readonly SeenAgent[], settings: NotifySettings): void {
    const nowMs = this.clock.now()
    this.#agents = agents
    const fresh = agents.flatMap((agent) => {
      const notice = noticeOf(agent)
      return notice && this.book.isNew(agent.id, notice.key) ? [{ agent: agent.id, notice, key: notice.key }] : []
    })
    const ids = new Set(agents.map(({ id }) => id))
    this.book.keepOnly(ids)
    this.#limit.keepOnly(ids)
    this.book.note(fresh)
    const wanted = fresh
      .map(({ agent, notice }) => ({ agent, notice, ways: waysFor(notice, settings, new Date(nowMs)) }))
      .filter(({ notice, ways }) => ways.length > 0 && nowMs - msOf(notice.since as Instant) < STALE_MS)
    if (wanted.length > 0) this.#then(() => this.#tellSome(wanted, settings))
  }

  /** Tells something that is no status of an agent, by the same rules. */
  tell(notice: Notice, settings: NotifySettings): void {
    const ways = waysFor(notice, settings, new Date(this.clock.now()))
    if (ways.length > 0) this.#then(() => this.#tell(notice, ways, settings))
  }

  get isHolding(): boolean {
    return this.#held.size > 0
  }

  /** Tells what was held back and is still so, as soon as it may: several in one. */
  flush(settings: NotifySettings): void {
    if (this.#held.size === 0) return
    const current = new Map(this.#agents.map((agent) => [agent.id, noticeOf(agent)?.key]))
    for (const [id, { notice }] of this.#held) if (current.get(id) !== notice.key) this.#held.delete(id)
    const held = [...this.#held.values()]
    const [first] = held
    const about = held.length === 1 ? first?.agent : undefined
    if (!first || !this.#limit.takes(about, settings.perMinute, this.clock.now())) return
    this.#held.clear()
    this.#then(() => this.#tellAll(held, settings))
  }

  /** Tells something made up, to see how it arrives. */
  try(ways: readonly Way[], settings: NotifySettings): Promise<Delivery[]> {
    const notice: Notice = {
      kind: 'waiting',
      key: 'test',
      agent: 'skein',
      since: '',
      title: 'Skein notifications work',
      body: 'This is a test: no agent is waiting',
    }
    return deliver(notice, ways, settings, this.outlets)
  }

  /** Waits until everything that was begun has been sent. */
  async settled(): Promise<void> {
    await this.#telling
  }

  #then(tell: () => Promise<void>): void {
    this.#telling = this.#telling.then(tell)
  }

  async #tellSome(wanted: readonly Wanted[], settings: NotifySettings): Promise<void> {
    const shown = await this.shown().catch(() => new Set<AgentId>())
    const unseen = wanted.filter(({ agent }) => !shown.has(agent))
    const nowMs = this.clock.now()
    const rest = unseen.slice(AT_ONCE)
    for (const one of unseen.slice(0, AT_ONCE)) {
      if (this.#limit.takes(one.agent, settings.perMinute, nowMs)) await this.#tell(one.notice, one.ways, settings)
      else this.#held.set(one.agent, one)
    }
    if (rest.length === 0) return
    if (this.#limit.takes(undefined, settings.perMinute, nowMs)) await this.#tellAll(rest, settings)
    else for (const one of rest) this.#held.set(one.agent, one)
  }

  /** In one notice. */
  async #tellAll(wanted: readonly Wanted[], settings: NotifySettings): Promise<void> {
    const [first] = wanted
    if (!first) return
    const notice = wanted.length === 1 ? first.notice : summaryOf(wanted.map((one) => one.notice))
    await this.#tell(notice, [...new Set(wanted.flatMap(({ ways }) => ways))], settings)
  }

  async #tell(notice: Notice, ways: readonly Way[], settings: NotifySettings): Promise<void> {
    for (const { way, failed } of await deliver(notice, ways, settings, this.outlets)) {
      if (failed === undefined || this.#said.has(way + failed)) continue
      this.#said.add(way + failed)
      this.say(`a notification by ${way} failed: ${failed}`)
    }
  }
}

function summaryOf(notices: readonly Notice[]): Notice {
  const names = notices.map(({ agent }) => agent).join(', ')
  const [first] = notices
  return {
    kind: 'waiting',
    key: 'many',
    agent: '',
    since: first?.since ?? '',
    title: `${notices.length} more agents need you`,
    body: names.slice(0, 200),
  }
}
