import { type Agent, type Instant, msOf, SkeinError, shownReason } from '../model/index.js'
import { type AgentRun, liveRun } from './agent-run.js'
import type { AgentView, Receipt } from './agents.js'
import { findAgent } from './find-agent.js'
import { nowOf, type Parts, runnerOf } from './parts.js'
import { RemovedAgents } from './removed-agents.js'
import { closeEndedPane } from './run/ended-pane.js'
import { kill } from './run/stop.js'
import { roleSessionName } from './run/tmux-name.js'
import { activityOf } from './status/evidence.js'

/** What a user does with agents beside running them: seen, later, put away, renamed, removed. */
export class AgentCare {
  readonly #removed: RemovedAgents

  constructor(
    private readonly parts: Parts,
    /** How the agent is now. */
    private readonly look: (agent: Agent) => Promise<AgentView>,
  ) {
    this.#removed = new RemovedAgents(parts.home, parts.runs)
  }

  async ack(reference: string): Promise<Receipt> {
    const agent = await findAgent(this.parts.home, reference)
    const before = await this.look(agent)
    await this.#note(agent, 'agent_acked', {}, (run, now) => withSeenEnd({ ...run, acked_at: now }))
    await this.#closeEnded(agent, await this.parts.runs.read(agent.id))
    const view = await this.look(agent)
    const how =
      before.waiting_for === 'finished'
        ? `its reply of ${before.since} is marked as seen`
        : activityOf(before) === 'blocked'
          ? `it still waits for an answer (${shownReason(before) ?? before.waiting_for})`
          : before.status === 'error'
            ? `its failure is marked as seen (${before.reason ?? 'the reason is unknown'})`
            : `it was ${before.status}`
    return { agent: view, did: `acknowledged ${agent.address}`, how }
  }

  async snooze(reference: string, until: Instant): Promise<Receipt> {
    const agent = await findAgent(this.parts.home, reference)
    if (msOf(until) <= this.parts.context.clock.now()) {
      throw new SkeinError('bad-time', `${until} is in the past`, 'Use a time in the future, such as 30m')
    }
    await this.look(agent)
    await this.#note(agent, 'agent_snoozed', { until }, (run, now) => ({
      ...run,
      snoozed_at: now,
      snoozed_until: until,
    }))
    const view = await this.look(agent)
    const how =
      activityOf(view) === 'blocked'
        ? 'it still waits for an answer, and a snooze does not hide that'
        : 'a new reply ends it sooner'
    return { agent: view, did: `snoozed ${agent.address} until ${until}`, how }
  }

  async rename(reference: string, name: string): Promise<Receipt> {
    const before = await findAgent(this.parts.home, reference)
    return this.#relocated('renamed', before, await this.parts.home.roster.rename(before.id, name))
  }

  async move(reference: string, group: string | undefined): Promise<Receipt> {
    const before = await findAgent(this.parts.home, reference)
    return this.#relocated('moved', before, await this.parts.home.roster.move(before.id, group))
  }

  async archive(reference: string): Promise<Receipt> {
    const agent = await findAgent(this.parts.home, reference)
    await this.look(agent)
    await this.#refuseRunning(agent, `Stop it first: skein stop ${agent.address}`)
    await this.#note(agent, 'agent_archived', {}, (run, now) => ({ ...run, archived_at: now }))
    return { agent: await this.look(agent), did: `archived ${agent.address}`, how: 'it is listed only with --all' }
  }

  async unarchive(reference: string): Promise<Receipt> {
    const agent = await findAgent(this.parts.home, reference)
    await this.#note(agent, 'agent_unarchived', {}, ({ archived_at: _at, ...run }) => run)
    return { agent: await this.look(agent), did: `unarchived ${agent.address}`, how: 'it is listed again' }
  }

  async setTool(reference: string, tool: string): Promise<Receipt> {
    const before = await findAgent(this.parts.home, reference)
    await this.look(before)
    await this.#refuseRunning(before, `Stop it first: skein stop ${before.address}`)
    runnerOf(this.parts, tool) // one that cannot be run is refused now, not at the next start
    const agent = await this.parts.home.roster.update(before.id, { tool })
    const how = before.tool === tool ? 'it already did' : `its conversation with ${before.tool} is kept for that tool`
    return { agent: await this.look(agent), did: `${agent.address} now runs ${tool}`, how }
  }

  async remove(reference: string, { force = false }: { force?: boolean } = {}): Promise<Receipt> {
    const agent = await findAgent(this.parts.home, reference)
    const view = await this.look(agent)
    if (force && liveRun(await this.parts.runs.read(agent.id))) await this.#killOrGiveUp(agent)
    // Nobody starts it meanwhile.
    using _held = await this.parts.runs.hold(agent.id, 'state')
    if (!force) await this.#refuseRunning(agent, `Stop it first: skein stop ${agent.address} , or give --force`)
    const run = await this.parts.runs.read(agent.id)
    this.#removed.keep(agent, run, this.parts.context.clock.now())
    try {
      await this.parts.home.roster.remove(agent.id)
    } catch (error) {
      this.#removed.putBack(agent, run)
      throw error
    }
    await this.#closeEnded(agent, run)
    const how = 'its conversations stay; skein remove --undo brings it back for 30 days'
    return { agent: view, did: `removed ${agent.address}`, how }
  }

  /** Its last lines have been seen, or nobody wants them any more. */
  async #closeEnded(agent: Agent, run: AgentRun | undefined): Promise<void> {
    if (run?.run && !liveRun(run) && !run.launching)
      await closeEndedPane(this.parts, agent, run.run, { isKeptWhileSeen: true })
  }

  async #refuseRunning(agent: Agent, next: string): Promise<void> {
    const run = await this.parts.runs.read(agent.id)
    if (!liveRun(run)) return
    throw new SkeinError('agent-running', `${agent.address} is ${run?.status.status}`, next)
  }

  /** What runs where it cannot be reached is given up: that place may be gone for good. */
  async #killOrGiveUp(agent: Agent): Promise<void> {
    try {
      await kill(this.parts, agent)
    } catch (error) {
      if (!(error instanceof SkeinError) || error.code !== 'agent-elsewhere') throw error
    }
  }

  async undoRemove(reference?: string): Promise<Receipt> {
    const removed = this.#removed.find(reference)
    const agent = await this.parts.home.roster.restore(removed.agent)
    await this.#removed.bringBack({ ...removed, agent })
    const how = `start it again: skein start ${agent.address}`
    return { agent: await this.look(agent), did: `brought ${agent.address} back`, how }
  }

  /** Something its user says about it. */
  async #note(
    agent: Agent,
    type: string,
    payload: Record<string, unknown>,
    change: (run: AgentRun, now: Instant) => AgentRun,
  ): Promise<void> {
    await this.parts.runs.update(agent, (current) => {
      const now = nowOf(this.parts)
      const run: AgentRun = current ?? {
        v: 1,
        agent: agent.id,
        recipe: { tool: agent.tool, cwd: agent.project_path ?? '/' },
        status: { status: 'stopped', since: now, source: 'process' },
      }
      return {
        next: change(run, now),
        events: [{ type, payload: { agent_id: agent.id, ...payload } }],
        result: undefined,
      }
    })
  }

  /** Its tmux session carries its name, so that people find it there as well. */
  async #relocated(verb: string, before: Agent, agent: Agent): Promise<Receipt> {
    const renamed = await this.parts.runs.update(agent, async (current) => {
      const live = liveRun(current)
      if (!current || !live) return undefined
      const name = roleSessionName(await this.parts.home.programs.roles(), agent)
      try {
        await (await this.parts.terminals.of(live.socket)).rename(live.tmux_session, name)
      } catch (error) {
        if (error instanceof SkeinError) return undefined // the name is taken, or tmux is away: the old one still fits
        throw error
      }
      return { next: { ...current, run: { ...live, tmux_session: name } }, result: name }
    })
    const did = `${verb} ${before.address} to ${agent.address}`
    return {
      agent: await this.look(agent),
      did,
      how: renamed ? `its tmux session is called ${renamed}` : 'its address was changed',
    }
  }
}

/** Nobody looks again at an agent that does not run: that its end was seen is stored with it. It can still be recovered. */
function withSeenEnd(run: AgentRun): AgentRun {
  if (liveRun(run)) return run
  if (run.status.status === 'asleep') {
    const { waiting_for: _seen, ...status } = run.status
    return { ...run, status }
  }
  if (run.status.status !== 'error') return run
  const { trouble: _trouble, ...status } = run.status
  return { ...run, status: { ...status, status: 'stopped' } }
}
