import { readSettings } from '../../home/index.js'
import {
  considerRespawn,
  endStranded,
  type Parts,
  parseRecoverSettings,
  parseWatchdogSettings,
  pendingRespawn,
  type Respawn,
  respawnAgent,
  sweepMediums,
  type WatchdogSettings,
  waitLeft,
} from '../../lifecycle/index.js'
import { type Agent, type AgentId, isAgentId, msOf, SkeinError } from '../../model/index.js'
import type { EventHub, Frame } from '../http/event-hub.js'

export interface WatchdogOptions {
  readonly parts: Parts
  readonly hub: EventHub
  readonly configFile: string
  readonly say: (line: string) => void
}

/** What ended longer ago, without a daemon to see it, is left to its user. */
const RECENT_MS = 24 * 3_600_000

/** The clock is asked again at least so often. */
const LONGEST_WAIT_MS = 10 * 60_000

/** How often agents of an asker that was killed are looked for. */
const SWEEP_MS = 60_000

interface Death {
  /** By the monotonic clock. */
  readonly atMs: number
  readonly agent: string
  readonly session: string | undefined
  readonly reason: string
}

/**
 * Starts agents again that ended unasked, by the rule of their role or of the settings: after a backoff, one at a time, spaced out, and
 * not for ever. Deaths come from the journal, whoever has seen them, so nothing is polled. What is decided is in the agent's file, and
 * is taken up again by the next daemon.
 */
export class Watchdog implements AsyncDisposable {
  readonly #listening: Disposable
  readonly #sweeping: NodeJS.Timeout
  readonly #timers = new Map<AgentId, NodeJS.Timeout>()
  #deaths: Death[] = []
  #isMass = false
  /** One thing at a time, in the order in which it happened. */
  #work: Promise<void> = Promise.resolve()
  #isOver = false
  #complaint = ''

  private constructor(private readonly options: WatchdogOptions) {
    this.#listening = options.hub.listen((frame) => this.#hear(frame))
    this.#sweeping = setInterval(() => this.#queue(() => this.#sweep()), SWEEP_MS)
  }

  /** What ended or was decided before this process began is taken up first. */
  static open(options: WatchdogOptions): Watchdog {
    const watchdog = new Watchdog(options)
    watchdog.#queue(() => watchdog.#takeUp())
    watchdog.#queue(() => watchdog.#sweep())
    return watchdog
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    this.#listening[Symbol.dispose]()
    clearInterval(this.#sweeping)
    for (const timer of this.#timers.values()) clearTimeout(timer)
    await this.#work
  }

  #hear({ event }: Frame): void {
    if (event.type === 'session_death' && event.payload.how !== 'killed') this.#queue(() => this.#count(event))
    const id = event.payload.agent_id
    if (!isAgentId(id)) return
    if (event.type === 'agent_stopped') this.#queue(() => this.#consider(id))
    const { trouble } = event.payload
    if (event.type === 'agent_status' && (trouble === 'tmux-gone' || trouble === 'dead-pane'))
      this.#queue(() => this.#endStranded(id))
  }

  #queue(work: () => Promise<void>): void {
    this.#work = this.#work.then(async () => {
      if (this.#isOver) return
      try {
        await work()
      } catch (error) {
        this.options.say(`the watchdog failed: ${error instanceof Error ? error.message : String(error)}`)
      }
    })
  }

  /** Agents that were made for one question, and whose asker is gone. */
  async #sweep(): Promise<void> {
    const count = await sweepMediums(this.options.parts)
    if (count > 0) this.options.say(`${count} agents were removed whose asker has ended`)
  }

  async #takeUp(): Promise<void> {
    const { parts } = this.options
    for (const agent of await parts.home.roster.agents()) {
      const { run } = await parts.runs.found(agent.id)
      const pending = run && pendingRespawn(run)
      if (pending) this.#schedule(agent, pending)
      else if (run?.run?.ended_at && parts.context.clock.now() - msOf(run.run.ended_at) < RECENT_MS)
        await this.#consider(agent.id)
    }
  }

  async #consider(id: AgentId): Promise<void> {
    const { parts } = this.options
    const settings = await this.#settings()
    const agent = (await parts.home.roster.agents()).find((one) => one.id === id)
    if (!settings || !agent) return
    const respawn = await considerRespawn(parts, agent, settings.ruleOf(agent))
    if (!respawn) return
    if (respawn.parked) await this.#tellParked(agent, respawn.parked)
    this.#schedule(agent, respawn)
  }

  async #endStranded(id: AgentId): Promise<void> {
    const { parts } = this.options
    const settings = await this.#settings()
    const agent = (await parts.home.roster.agents()).find((one) => one.id === id)
    if (settings && agent) await endStranded(parts, agent, settings.ruleOf(agent))
  }

  #schedule(agent: Agent, respawn: Respawn): void {
    const waitMs = waitLeft(respawn, this.options.parts.context.clock.now())
    clearTimeout(this.#timers.get(agent.id))
    if (waitMs === undefined) return
    // Timers run by the monotonic clock, which stands still while the machine sleeps, and not for more than 24 days.
    const timer = setTimeout(
      () => {
        this.#timers.delete(agent.id)
        if (waitMs > LONGEST_WAIT_MS) this.#schedule(agent, respawn)
        else this.#queue(() => this.#respawn(agent, respawn))
      },
      Math.min(waitMs, LONGEST_WAIT_MS),
    )
    this.#timers.set(agent.id, timer)
  }

  async #respawn(agent: Agent, respawn: Respawn): Promise<void> {
    const { parts, say, configFile } = this.options
    const done = await respawnAgent(parts, agent, respawn)
    if (!done) return
    if ('parked' in done) await this.#tellParked(agent, done.parked)
    else say(`respawn ${respawn.count} of ${agent.address}: ${done.did}`)
    const { spacingMs } = parseRecoverSettings(await readSettings(configFile), configFile)
    if (!this.#isOver) await new Promise((resolve) => setTimeout(resolve, spacingMs))
  }

  /**
   * Many deaths at once have one cause. They are reported once, and are brought back one by one like any other. An agent that goes on dying
   * is one of them, not many.
   */
  async #count({ agent, session, payload }: Frame['event']): Promise<void> {
    const settings = await this.#settings()
    if (!settings) return
    const { deaths, withinMs } = settings.mass
    const nowMs = performance.now()
    const reason = String(payload.reason ?? '')
    this.#deaths = [
      ...this.#deaths.filter((one) => nowMs - one.atMs < withinMs && one.agent !== agent),
      { atMs: nowMs, agent: agent ?? '', session, reason },
    ]
    if (this.#deaths.length < deaths) this.#isMass = false
    else if (!this.#isMass) {
      this.#isMass = true
      await this.#tellMass(withinMs)
    }
  }

  async #tellMass(withinMs: number): Promise<void> {
    const { parts, say } = this.options
    const reasons = new Set(this.#deaths.map(({ reason }) => reason))
    const [cause] = reasons
    const payload = {
      count: this.#deaths.length,
      window: `${withinMs / 1_000}s`,
      sessions: this.#deaths.flatMap(({ session }) => session ?? []),
      agents: this.#deaths.map(({ agent }) => agent),
      ...(reasons.size === 1 && cause ? { possible_cause: cause } : {}),
    }
    say(`${payload.count} agents died within ${payload.window}`)
    await parts.home.events.append({ type: 'mass_death', payload })
  }

  async #tellParked(agent: Agent, parked: NonNullable<Respawn['parked']>): Promise<void> {
    const { parts, say } = this.options
    say(`${agent.address} is parked: ${parked.reason}`)
    const payload = { agent_id: agent.id, ...parked }
    await parts.home.events.append({ type: 'escalation_sent', agent: agent.address, payload })
  }

  /** A mistake in the file is reported once, and nothing is started until it is corrected. */
  async #settings(): Promise<WatchdogSettings | undefined> {
    const { configFile, parts, say } = this.options
    try {
      return parseWatchdogSettings(await readSettings(configFile), configFile, await parts.home.programs.roles())
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error
      if (error.message !== this.#complaint) say(`the watchdog is off: ${error.message}`)
      this.#complaint = error.message
      return undefined
    }
  }
}
