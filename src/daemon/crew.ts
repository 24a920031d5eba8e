import type { Home } from '../home/index.js'
import type { AgentRuns, AgentView } from '../lifecycle/index.js'
import { type AgentId, type AgentStatus, type Context, parseAgentId, SkeinError } from '../model/index.js'
import { nextOf } from './attention.js'
import type { EventHub } from './event-hub.js'
import type { Fleet } from './fleet.js'
import { NoticeBook } from './notice-book.js'
import { Notices } from './notices.js'
import type { Outlets } from './notifier.js'
import type { NotifySettings } from './notify-settings.js'
import { OneAtATime } from './one-at-a-time.js'
import type { DaemonPlace } from './place.js'
import { Roll } from './roll.js'
import { segmentOf } from './segment.js'
import { keepSegment } from './statusline.js'
import { WatchedDirectory } from './watched-directory.js'

/** Files of agents are watched; this is for changes that were missed. */
const ROLL_MS = 15_000

/** How an agent's state is found out and stored; lifecycle's part. */
export interface Lookout {
  /** Takes what programs have left in the spool. */
  takeSpool(): Promise<void>
  /** Looks at these agents, or at all, with everything but the spool; stores and journals what has changed. */
  look(agents: readonly AgentId[] | 'all'): Promise<void>
}

export interface CrewOptions {
  readonly home: Home
  readonly runs: AgentRuns
  readonly lookout: Lookout
  readonly hub: EventHub
  readonly place: DaemonPlace
  readonly context: Context
  readonly fleet: Fleet
  readonly outlets: Omit<Outlets, 'announce'>
  notify(): Promise<NotifySettings>
  readonly say: (line: string) => void
}

/**
 * Watches all agents of the profile, and makes what they do known: to the journal, to tmux, to status lines and to their user. Nothing is
 * polled that can tell by itself.
 */
export class Crew implements AsyncDisposable {
  #segment = ''
  readonly #roll: Roll
  readonly #notices: Notices
  readonly #published = new Map<AgentId, string>()
  readonly #changed = new Set<AgentId | 'all'>()
  readonly #watches: Disposable[] = []
  readonly #spool: OneAtATime
  readonly #telling: OneAtATime

  private constructor(private readonly options: CrewOptions) {
    const { home, runs, lookout, place, context, fleet, outlets, say } = options
    this.#roll = new Roll(home, runs)
    this.#notices = new Notices(
      new NoticeBook(place.notices),
      { ...outlets, announce: (text, how) => fleet.announce(text, how) },
      context.clock,
      say,
    )
    const failed = (what: string) => (error: unknown) => say(`${what} failed: ${messageOf(error)}`)
    this.#spool = new OneAtATime(() => lookout.takeSpool(), failed('taking messages'))
    this.#telling = new OneAtATime(() => this.#tell(), failed('telling what changed'))
  }

  static async open(options: CrewOptions): Promise<Crew> {
    const crew = new Crew(options)
    await options.lookout.takeSpool()
    crew.#watch()
    crew.#note('all')
    await crew.#telling.settled()
    return crew
  }

  /** `!2 ▶3` */
  get segment(): string {
    return this.#segment
  }

  next(): AgentView | undefined {
    return nextOf(this.#roll.views())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const watch of this.#watches) watch[Symbol.dispose]()
    await Promise.all([this.#spool.settled(), this.#telling.settled()])
    await this.#notices.settled()
    await this.options.fleet[Symbol.asyncDispose]()
  }

  #watch(): void {
    const { home, hub, fleet, lookout, say } = this.options
    const { spool, agents } = home.paths
    this.#watches.push(
      new WatchedDirectory(spool, () => this.#spool.ask(), { make: true }),
      new WatchedDirectory(agents, (name) => this.#note(name === undefined ? 'all' : idIn(name)), {
        make: true,
        lookMs: ROLL_MS,
      }),
      // Agents come, go and change their address in the roster, which is no file of theirs.
      hub.listen(({ event }) => {
        if (/^(agent_(added|removed|renamed|moved|updated)|group_)/.test(event.type)) this.#note('all')
      }),
      fleet.listen((agents) => {
        lookout.look(agents).catch((error: unknown) => say(`looking at agents failed: ${messageOf(error)}`))
        if (agents === 'all') this.#published.clear()
        this.#note(agents === 'all' ? 'all' : undefined)
      }),
    )
  }

  #note(changed: AgentId | 'all' | undefined): void {
    if (changed === undefined) return
    this.#changed.add(changed)
    this.#telling.ask()
  }

  async #tell(): Promise<void> {
    const changed = [...this.#changed]
    this.#changed.clear()
    if (changed.includes('all')) await this.#roll.readAll()
    else for (const id of changed) if (id !== 'all') await this.#roll.readOne(id)
    const views = this.#roll.views()
    await this.options.fleet.crewIs(this.#roll.runs())
    const segment = segmentOf(views)
    if (segment !== this.#segment || changed.includes('all')) {
      this.#segment = segment
      keepSegment(this.options.place, segment)
      await this.options.fleet.publishToAll('@skein_statusline', segment)
    }
    for (const view of views) await this.#publish(view)
    this.#notices.look(views, await this.options.notify())
  }

  /** As options of its pane, for status lines that show it without a process. */
  async #publish(view: AgentView): Promise<void> {
    const run = this.#roll.runOf(view.id)?.run
    const told = JSON.stringify([run?.pane, view.status, view.since, view.reason])
    if (!run || this.#published.get(view.id) === told) return
    await this.options.fleet.publish(run, optionsOf(view))
    this.#published.set(view.id, told)
  }
}

const optionsOf = ({ status, since, reason = '' }: AgentStatus): Record<`@${string}`, string> => ({
  '@skein_state': status,
  '@skein_since': since,
  // A status line would run what stands in #( ), and a reason may quote anything.
  '@skein_reason': reason
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll('#', '＃')
    .slice(0, 200),
})

function idIn(name: string): AgentId | undefined {
  if (!name.endsWith('.json') || name.startsWith('.')) return undefined
  try {
    return parseAgentId(name.slice(0, -'.json'.length))
  } catch (error) {
    if (error instanceof SkeinError) return undefined
    throw error
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
