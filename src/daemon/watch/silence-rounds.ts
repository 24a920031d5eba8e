import { readSettings } from '../../home/index.js'
import { sweepBeats } from '../../journal/index.js'
import {
  type AgentRun,
  careForSilent,
  hookedWork,
  lifeOfRun,
  type Parts,
  parseWatchdogSettings,
  ToolWork,
} from '../../lifecycle/index.js'
import { type Agent, type AgentId, SkeinError } from '../../model/index.js'

/** How often agents with work are looked at for signs of life: rules are in minutes. */
const ROUND_MS = 20_000

export interface SilenceRoundsOptions {
  readonly parts: Parts
  readonly watcher: { shown(): Promise<ReadonlySet<AgentId>> }
  readonly configFile: string
  readonly say: (line: string) => void
}

/**
 * Looks after agents with work on their hook that give no sign of life: nudged once, then shown as stuck, then ended for the watchdog to
 * start again. What was done is in the agent's file; only the CPU times of tool calls are in memory, and without them everybody is given
 * the longer time.
 */
export class SilenceRounds implements AsyncDisposable {
  readonly #tools = new ToolWork()
  #timer: NodeJS.Timeout | undefined
  #work: Promise<void> = Promise.resolve()
  #isOver = false

  constructor(private readonly options: SilenceRoundsOptions) {}

  static open(options: SilenceRoundsOptions): SilenceRounds {
    const rounds = new SilenceRounds(options)
    rounds.#wait()
    return rounds
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    clearTimeout(this.#timer)
    await this.#work
  }

  #wait(): void {
    if (this.#isOver) return
    this.#timer = setTimeout(() => {
      this.#work = this.round()
        .catch((error: unknown) =>
          this.options.say(
            `looking for stuck agents failed: ${error instanceof Error ? error.message : String(error)}`,
          ),
        )
        .then(() => this.#wait())
    }, ROUND_MS)
  }

  /** Looks at every agent that runs, once. */
  async round(): Promise<void> {
    const { parts, watcher, configFile, say } = this.options
    const runs = (await parts.runs.all()).filter(isLive)
    const live = new Set(runs.map(({ run }) => run?.id ?? ''))
    this.#tools.keepOnly(live)
    sweepBeats(parts.home.paths.beats, live)
    if (runs.length === 0) return
    const settings = await this.#settings(configFile)
    if (!settings) return
    const roster = new Map((await parts.home.roster.agents()).map((agent) => [agent.id, agent]))
    const shown = await watcher.shown()
    const works = new Works(parts)
    for (const { agent: id } of runs) {
      const agent = roster.get(id)
      if (!agent || this.#isOver) continue
      const done = await careForSilent(parts, agent, settings.silenceOf(agent), {
        tools: this.#tools,
        workOf: () => works.of(agent),
        isSeen: shown.has(id),
      })
      if (done) say(`${agent.address} ${done.what}`)
    }
  }

  /** A mistake in the file is reported by the watchdog. */
  async #settings(file: string): Promise<ReturnType<typeof parseWatchdogSettings> | undefined> {
    try {
      return parseWatchdogSettings(await readSettings(file), file, await this.options.parts.home.programs.roles())
    } catch (error) {
      if (error instanceof SkeinError) return undefined
      throw error
    }
  }
}

/** What is on the hooks of agents, asked for at most once in a round. */
class Works {
  #all: Promise<Map<string, string>> | undefined

  constructor(private readonly parts: Parts) {}

  /** Work that is kept elsewhere may not be reachable; then nothing is known to be on the hook. */
  async of(agent: Agent): Promise<string | undefined> {
    const { home } = this.parts
    try {
      if ((await home.work.keeper()) !== 'built-in') return (await home.work.hooked(agent)).work[0]?.id
      this.#all ??= hookedWork(home)
      return (await this.#all).get(agent.id)
    } catch (error) {
      if (error instanceof SkeinError) return undefined
      throw error
    }
  }
}

const isLive = ({ run }: AgentRun): boolean =>
  run !== undefined && run.ended_at === undefined && lifeOfRun(run) === 'alive'
