import { lifeOf } from '../../disk/index.js'
import { type Agent, type AgentStatus, msOf } from '../../model/index.js'
import type { AgentRun, RunEnd } from '../agent-run.js'
import { endEvents } from '../care/run-end.js'
import { type Parts, pause } from '../parts.js'
import { serverOf } from '../run/run-life.js'

/** Whatever ends a login or the machine ends everything in it within seconds. */
const TOGETHER_MS = 10_000
/** How long a tmux server that was told to end may take. */
const SERVER_MS = 2_000
const LOOK_MS = 50
const LOST: RunEnd = { how: 'lost', reason: 'it exited while its tmux server and the daemon were being ended' }

/**
 * To be called when this process was told to end by a signal. A program that exits with 0 has left by itself, unless everything around it
 * is ended as well: its tmux server goes, and so does this process, and nobody asked for its end. Then it is down as if the machine
 * had been switched off, and `skein recover` brings it back.
 */
export async function recordShutDown(parts: Parts): Promise<void> {
  const agents = new Map((await parts.home.roster.agents()).map((agent) => [agent.id, agent]))
  const left = (await parts.runs.all()).filter((run) => agents.has(run.agent) && hasJustLeft(parts, run))
  const until = performance.now() + SERVER_MS
  while (left.some(isServerAlive) && performance.now() < until) await pause(LOOK_MS)
  for (const run of left) {
    const agent = agents.get(run.agent)
    if (agent && !isServerAlive(run)) await recordLost(parts, agent)
  }
}

function hasJustLeft({ context }: Parts, { run, archived_at }: AgentRun): boolean {
  if (archived_at !== undefined || run?.end?.how !== 'exited' || run.asked || run.ended_at === undefined) return false
  const agoMs = context.clock.now() - msOf(run.ended_at)
  return agoMs >= 0 && agoMs < TOGETHER_MS && serverOf(run) !== undefined
}

function isServerAlive({ run }: AgentRun): boolean {
  const server = run && serverOf(run)
  return server === undefined || lifeOf(server) === 'alive'
}

async function recordLost(parts: Parts, agent: Agent): Promise<void> {
  await parts.runs.update(agent, (current) => {
    if (!current?.run?.ended_at || !hasJustLeft(parts, current)) return undefined
    const end = { ...current.run.end, ...LOST }
    const since = current.run.ended_at
    const status: AgentStatus = { status: 'error', since, source: 'process', trouble: 'tmux-gone', reason: LOST.reason }
    const events = endEvents(agent, current, current.run, end).filter(({ type }) => type === 'session_death')
    return { next: { ...current, status, run: { ...current.run, end } }, events, result: undefined }
  })
}
