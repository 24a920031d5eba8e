import { readSettings } from '../../home/index.js'
import { type AgentRun, activityOf, type Parts, parseHibernate, putToSleep } from '../../lifecycle/index.js'
import { formatDuration, laterOf, msOf, SkeinError } from '../../model/index.js'
import { OneAtATime } from './one-at-a-time.js'

/** How often idle agents are looked for: rules are in minutes and hours. */
const ROUND_MS = 60_000

export interface HibernateRoundsOptions {
  readonly parts: Parts
  readonly configFile: string
  readonly say: (line: string) => void
}

/** Puts agents to sleep that were idle for as long as a rule says. Who cannot be is tried again at the next round. */
export class HibernateRounds implements AsyncDisposable {
  readonly #rounds: OneAtATime
  readonly #timer: NodeJS.Timeout
  #complaint = ''

  constructor(private readonly options: HibernateRoundsOptions) {
    const complain = (error: unknown): void => {
      const line = error instanceof Error ? error.message : String(error)
      if (line !== this.#complaint) options.say(`putting agents to sleep failed: ${line}`)
      this.#complaint = line
    }
    this.#rounds = new OneAtATime(() => this.round(), complain)
    this.#timer = setInterval(() => this.#rounds.ask(), ROUND_MS)
  }

  async round(): Promise<void> {
    const { parts, configFile, say } = this.options
    const idle = (await parts.runs.all()).filter(isIdle)
    if (idle.length === 0) return
    const afterMs = parseHibernate(await readSettings(configFile), configFile, await parts.home.programs.roles())
    const roster = new Map((await parts.home.roster.agents()).map((agent) => [agent.id, agent]))
    for (const run of idle) {
      const agent = roster.get(run.agent)
      const wanted = agent && afterMs(agent)
      const idleMs = parts.context.clock.now() - msOf(idleSince(run))
      if (!agent || wanted === undefined || idleMs < wanted) continue
      const because = `idle for ${formatDuration(idleMs)}`
      try {
        await putToSleep(parts, agent, because)
        say(`${agent.address} was put to sleep: ${because}`)
      } catch (error) {
        if (!(error instanceof SkeinError)) throw error // else it is not the time for it
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    await this.#rounds.settled()
  }
}

/** One that is silent with work on its hook is stuck, and not idle. */
const isIdle = ({ run, status, silence }: AgentRun): boolean =>
  run !== undefined && run.ended_at === undefined && activityOf(status) === 'quiet' && silence === undefined

/** Also what its user has done with it counts as use. */
function idleSince({ status, heard, run, acked_at }: AgentRun): AgentRun['status']['since'] {
  const times = [status.since, heard?.at, run?.started_at, acked_at].filter((at) => at !== undefined)
  return times.reduce(laterOf, status.since)
}
