import { rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  explainDiskError,
  FileLock,
  foreignAt,
  makeDirectory,
  namesIn,
  readPlain,
  writeAtomic,
  writeDurable,
} from '../disk/index.js'
import { type Home, type NewEvent, setAside } from '../home/index.js'
import { type Agent, type AgentId, type Context, isAgentId, SkeinError } from '../model/index.js'
import { type AgentRun, readAgentRun } from './agent-run.js'
import { agentRunFromJournal } from './agent-run-recovery.js'
import { located } from './run/run-life.js'
import { RunCache } from './run-cache.js'
import { turnNews } from './turns/turn-events.js'

const SUFFIX = '.json'
/** An agent is held for the time it takes to start a program; who waits longer than this waits for something that hangs. */
const HOLD_WAIT_MS = 20_000
/** A worktree is made meanwhile, of each that is ahead in the queue. */
const SLING_WAIT_MS = 60_000
/** A prompt that is kept for an agent, among the files of its runs. */
export const PROMPT_FILE = 'prompt'
/** How far it came, for the session after a crash. */
export const CHECKPOINT_FILE = 'checkpoint.json'
/** The branch on which its turns are committed. */
export const BRANCH_FILE = 'branch.json'
/** Among the files of an agent: the process that it was made for, and with which it goes. */
export const ASKER_FILE = 'asker.json'
/** What a key in its pane runs once its program has ended. */
export const AGAIN_FILE = 'again.sh'
/** An empty directory of the agent's own, in place of one that is gone. */
export const SCRATCH_DIRECTORY = 'scratch'

const DOING = {
  state: 'is starting or changing this agent',
  keys: 'is typing into this agent',
  handoff: 'is handing off this agent',
  sling: 'is giving work to this agent',
} as const

/** What a change makes of an agent. */
export interface RunChange<T> {
  next: AgentRun
  /** Appended before the file is written. */
  events?: readonly Omit<NewEvent, 'agent'>[]
  /** False for what can be read again from the agent itself: it need not survive a power cut. */
  isDurable?: boolean
  result: T
}

/** The file of an agent; undefined when there is none, or when it cannot be read. */
export interface Found {
  run: AgentRun | undefined
  /** Why it cannot be read. */
  problem?: string
}

/**
 * How each agent runs: one file per agent, changed under that agent's own lock, by whichever process gets there first.
 * A change is in the journal before it is in the file. A process that is killed in between leaves the file as it was; then
 * what the file lacks is found again in the agent's pane, in the spool or by looking.
 */
export class AgentRuns {
  readonly #cache: RunCache
  #nextRead: Promise<AgentRun[]> | undefined
  /** Changes of this process that are in the journal, or about to be, and not in the file yet: who was told of one by its event finds it there. */
  readonly #saving = new Map<AgentId, Promise<void>>()

  constructor(
    private readonly home: Home,
    private readonly context: Context,
  ) {
    this.#cache = new RunCache(context)
  }

  /**
   * All that can be read. Those of agents that were removed are left out by the caller, who knows the roster. Read once for all who ask
   * before it is read: fifty agents that are started at once each ask who has their conversation.
   */
  all(): Promise<AgentRun[]> {
    this.#nextRead ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      this.#nextRead = undefined
      return this.#readAll()
    })
    return this.#nextRead
  }

  async #readAll(): Promise<AgentRun[]> {
    const ids = namesIn(this.home.paths.agents).flatMap((name) => idOf(name) ?? [])
    return (await Promise.all(ids.map((id) => this.found(id)))).flatMap(({ run }) => run ?? [])
  }

  async read(id: AgentId): Promise<AgentRun | undefined> {
    const path = this.#path(id)
    await this.#saving.get(id)?.catch(() => undefined)
    try {
      let isThere = true
      const run = this.#cache.of(id, path, () => {
        const content = readPlain(path)
        isThere = content !== undefined
        return content && readAgentRun(content.toString(), path)
      })
      if (run?.agent === id) return located(run)
      return isThere || foreignAt(path) !== undefined ? await this.#recover(id) : undefined
    } catch (error) {
      throw explainDiskError(error, path)
    }
  }

  /** The same, with the reason why the file cannot be read: the other agents can be shown all the same. */
  async found(id: AgentId): Promise<Found> {
    try {
      return { run: await this.read(id) }
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error
      return { run: undefined, problem: error.message }
    }
  }

  /**
   * Reads, decides and writes as the only one who does so for this agent. `change` may take its time (it starts programs);
   * when it throws, nothing is changed. Undefined means that there is nothing to change.
   */
  async update<T>(
    agent: Agent,
    change: (
      current: AgentRun | undefined,
      /**
       * Writes what must be known should this process be killed before the change is complete. A power cut ends the program as well: after
       * one, the file as it was before is as true.
       */
      save: (next: AgentRun) => Promise<void>,
    ) => Promise<RunChange<T> | undefined> | RunChange<T> | undefined,
    options: { waitMs?: number } = {},
  ): Promise<T | undefined> {
    using _held = await this.hold(agent.id, 'state', options.waitMs)
    const before = await this.read(agent.id)
    const made = await change(before, (next) => this.#writeReplacing(next))
    if (!made) return undefined
    const { next, events } = await turnNews(this.home, before, made.next)
    const saving = this.#save(agent, { ...made, next, events: [...(made.events ?? []), ...events] })
    this.#saving.set(agent.id, saving)
    try {
      await saving
    } finally {
      this.#saving.delete(agent.id)
    }
    return made.result
  }

  async #save(agent: Agent, { next, events = [], isDurable = true }: RunChange<unknown>): Promise<void> {
    await Promise.all(events.map((event) => this.home.events.append({ ...event, agent: agent.address })))
    if (isDurable) await this.#writeDurable(next)
    else await this.#writeReplacing(next)
  }

  /**
   * `state`: the agent's file and starting it. `keys`: typing into it, which takes longer and must not mix. `handoff`: from the decision to
   * hand off until the successor runs; whoever gets it may finish a handoff whose process is gone. `sling`: the same while it is given work.
   */
  async hold(id: AgentId, what: keyof typeof DOING, waitMs = HOLD_WAIT_MS): Promise<Disposable> {
    return this.#lock(`${id}.${what}.lock`, DOING[what], waitMs)
  }

  /** The same without waiting; undefined while another process holds it. */
  async holdIfFree(id: AgentId, what: keyof typeof DOING): Promise<Disposable | undefined> {
    try {
      return await this.hold(id, what, 0)
    } catch (error) {
      if (error instanceof SkeinError && error.code === 'agent-busy') return undefined
      throw error
    }
  }

  /** From the choice of a session of the history until the file of the agent says that it has it. */
  async holdResume(): Promise<Disposable> {
    return this.#lock('resume.lock', 'is starting an agent in a session', HOLD_WAIT_MS)
  }

  /** While it is decided which agent gets a unit of work: two that choose at once would choose the same one. */
  async holdSling(): Promise<Disposable> {
    return this.#lock('sling.lock', 'is giving work to an agent', SLING_WAIT_MS)
  }

  /** While agents are brought back one after the other. Who comes second is refused at once. */
  async holdRecovery(): Promise<Disposable> {
    return this.#lock('recover.lock', 'is bringing agents back', 0)
  }

  async #lock(name: string, doing: string, waitMs: number): Promise<Disposable> {
    makeDirectory(this.home.paths.agents)
    try {
      return await new FileLock(join(this.home.paths.agents, name)).hold(waitMs)
    } catch (error) {
      if (!(error instanceof SkeinError) || error.code !== 'home-busy') throw error
      throw new SkeinError('agent-busy', `Another Skein process ${doing}`, 'Wait a moment, then try again', {
        cause: error,
      })
    }
  }

  /** Where the files of an agent's own runs lie (0700): settings for its program, its environment. */
  directoryOf(id: AgentId): string {
    return join(this.home.paths.agents, id)
  }

  /** Takes away everything about an agent. */
  forget(id: AgentId): void {
    for (const path of [this.#path(id), this.directoryOf(id)]) rmSync(path, { recursive: true, force: true })
    for (const what of Object.keys(DOING)) rmSync(join(this.home.paths.agents, `${id}.${what}.lock`), { force: true })
  }

  /** Puts a file back as it was before `forget`; the caller holds the agent. */
  restore(run: AgentRun): void {
    this.#writeNow(run)
  }

  #path(id: AgentId): string {
    return join(this.home.paths.agents, id + SUFFIX)
  }

  #writeNow(run: AgentRun): void {
    makeDirectory(this.home.paths.agents)
    writeAtomic(this.#path(run.agent), textOf(run), { durable: true })
  }

  /** At once: to have a few kilobytes written by other threads takes longer, and fifty agents that start wait for it. */
  async #writeReplacing(run: AgentRun): Promise<void> {
    makeDirectory(this.home.paths.agents)
    writeAtomic(this.#path(run.agent), textOf(run), { durable: false })
  }

  async #writeDurable(run: AgentRun): Promise<void> {
    makeDirectory(this.home.paths.agents)
    await writeDurable(this.#path(run.agent), textOf(run))
  }

  /** The file is damaged: the journal knows how the agent was last started and which conversation it is in. */
  async #recover(id: AgentId): Promise<AgentRun | undefined> {
    const kept = setAside(this.#path(id), 'damaged', this.context.clock.now())
    const run = await agentRunFromJournal(this.home, id)
    const found = run ? 'its settings were restored from the journal' : 'its settings are lost'
    this.context.warn(`The file of agent ${id} could not be read and was kept as ${kept}; ${found}`)
    if (run) this.#writeNow(run)
    return run
  }
}

const textOf = (run: AgentRun): string => `${JSON.stringify(run, undefined, 1)}\n`

function idOf(name: string): AgentId | undefined {
  const id = name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : ''
  return isAgentId(id) ? id : undefined
}
