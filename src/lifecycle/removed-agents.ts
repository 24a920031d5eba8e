import { existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory, namesIn, readPlain, writeAtomic } from '../disk/index.js'
import type { Home } from '../home/index.js'
import { type Agent, DAY_MS, isSoundAgent, readJson, SkeinError } from '../model/index.js'
import { type AgentRun, readAgentRun } from './agent-run.js'
import type { AgentRuns } from './agent-runs.js'

/** How long a removed agent can be brought back. */
const KEPT_MS = 30 * DAY_MS

interface Removed {
  agent: Agent
  run: AgentRun | undefined
}

/** Agents that were removed, kept for a while so that a removal can be undone. */
export class RemovedAgents {
  constructor(
    private readonly home: Home,
    private readonly runs: AgentRuns,
  ) {}

  /** The agent's files, set apart. The caller then takes it off the roster. */
  keep(agent: Agent, run: AgentRun | undefined, nowMs: number): void {
    makeDirectory(this.#directory)
    this.#forgetOld(nowMs)
    writeAtomic(this.#path(agent.id), `${JSON.stringify({ v: 1, agent, run }, undefined, 1)}\n`, { durable: true })
    const files = this.runs.directoryOf(agent.id)
    if (existsSync(files)) renameSync(files, join(this.#directory, agent.id))
    this.runs.forget(agent.id)
  }

  /** The one that was removed last, or the one named by address or id. */
  find(reference: string | undefined): Removed {
    const all = this.#all()
    const fits =
      reference === undefined ? all : all.filter(({ agent }) => agent.address === reference || agent.id === reference)
    const last = fits.at(-1)
    if (last) return last
    const what = reference === undefined ? 'No agent was removed' : `No agent ${JSON.stringify(reference)} was removed`
    throw new SkeinError('agent-not-found', `${what} in the last 30 days`, 'See: skein list --all')
  }

  /** Puts its files back. */
  async bringBack({ agent, run }: Removed): Promise<void> {
    using _held = await this.runs.hold(agent.id, 'state')
    this.putBack(agent, run)
  }

  /** The same, for who holds the agent. */
  putBack(agent: Agent, run: AgentRun | undefined): void {
    const kept = join(this.#directory, agent.id)
    if (existsSync(kept)) renameSync(kept, this.runs.directoryOf(agent.id))
    if (run) this.runs.restore(run)
    rmSync(this.#path(agent.id), { force: true })
  }

  get #directory(): string {
    return join(this.home.paths.agents, 'removed')
  }

  #path(id: string): string {
    return join(this.#directory, `${id}.json`)
  }

  /** In the order of their removal. */
  #all(): Removed[] {
    return this.#files()
      .map((path) => ({ path, at: statSync(path).mtimeMs }))
      .sort((a, b) => a.at - b.at)
      .flatMap(({ path }) => readRemoved(path) ?? [])
  }

  #files(): string[] {
    return namesIn(this.#directory)
      .filter((name) => name.endsWith('.json'))
      .map((name) => join(this.#directory, name))
  }

  #forgetOld(nowMs: number): void {
    for (const path of this.#files()) {
      if (nowMs - statSync(path).mtimeMs < KEPT_MS) continue
      rmSync(path, { force: true })
      rmSync(path.slice(0, -'.json'.length), { recursive: true, force: true })
    }
  }
}

function readRemoved(path: string): Removed | undefined {
  try {
    const value = readJson(readPlain(path)?.toString() ?? '')
    if (typeof value !== 'object' || value === null || !('agent' in value) || !isSoundAgent(value.agent))
      return undefined
    const run = 'run' in value && value.run ? readAgentRun(JSON.stringify(value.run), path) : undefined
    return { agent: value.agent as Agent, run }
  } catch {
    return undefined
  }
}
