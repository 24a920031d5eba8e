import { readFileSync } from 'node:fs'
import { type Life, lifeOf, type ProcessOwner, startTimeOf, thisPlace, whereaboutsOf } from '../../disk/index.js'
import { type Agent, SkeinError } from '../../model/index.js'
import type { PaneInfo } from '../../terminal/index.js'
import type { AgentRun, LiveRun } from '../agent-run.js'
import type { Parts } from '../parts.js'
import type { Look } from '../terminals.js'

/** A process with when it started, so that only this very one is signalled. */
export const ownerOf = ({ pid, process_start }: { pid: number; process_start?: number }): ProcessOwner => ({
  pid,
  ...(process_start === undefined ? {} : { starttime: process_start }),
})

/** In the environment of all that a run has started. */
export const markOf = ({ id }: Pick<LiveRun, 'id'>): string => `SKEIN_RUN=${id}`

/** Whether the process of a run lives, by its pid. `unknown` where that pid has no meaning: on another host, in another container. */
export function lifeOfRun(run: LiveRun): Life {
  switch (whereaboutsOf(run.place)) {
    case 'here':
      return lifeOf(ownerOf(run))
    case 'restarted':
      return 'dead'
    case 'elsewhere':
      return 'unknown'
  }
}

/** The same, with the word of its tmux server where the pid says nothing: the server sees its panes from wherever it is asked. */
export async function lifeNow(parts: Parts, agent: Agent, run: LiveRun): Promise<Life> {
  const life = lifeOfRun(run)
  if (life !== 'unknown') return life
  const pane = paneOf(agent, run, await parts.terminals.look(run.socket, serverOf(run)))
  return pane ? (pane.isDead ? 'dead' : 'alive') : 'unknown'
}

/** The pane of a run: it has to carry the mark of the agent and run that very process, for a new server counts panes from nought. */
export function paneOf(agent: Agent, run: LiveRun, look: Look): PaneInfo | undefined {
  const pane = look.kind === 'panes' ? look.panes.get(run.pane) : undefined
  return pane?.agent === agent.id && pane.pid === run.pid ? pane : undefined
}

/** The tmux server of a run, where it can be seen from here. */
export function serverOf({ server, place }: Pick<LiveRun, 'server' | 'place'>): ProcessOwner | undefined {
  return server && whereaboutsOf(place) === 'here' ? ownerOf(server) : undefined
}

/**
 * Completes a run of an earlier version, or one that was started from another pid namespace, with where it runs: its process is found
 * here by its mark. tmux itself tells each pane where its server is.
 */
export function located(run: AgentRun): AgentRun {
  const live = run.run
  if (!live || live.ended_at !== undefined) return run
  if (live.place && whereaboutsOf(live.place) !== 'elsewhere') return run
  const environment = environmentOf(live.pid)
  if (!environment.includes(markOf(live))) return run
  const [path, pid] =
    environment
      .find((line) => line.startsWith('TMUX='))
      ?.slice('TMUX='.length)
      .split(',') ?? []
  const found = {
    ...live,
    ...(path?.startsWith('/') ? { socket: { path } } : {}),
    ...(Number(pid) > 1 ? { server: withStart(Number(pid)) } : {}),
    ...withStart(live.pid),
    place: thisPlace(),
  }
  return { ...run, run: found }
}

export function withStart(pid: number): { pid: number; process_start?: number } {
  const start = startTimeOf(pid)
  return { pid, ...(start === undefined ? {} : { process_start: start }) }
}

function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  } catch {
    return []
  }
}

/** `on host build-7`, or which part of this machine. */
export function placeName({ place }: LiveRun): string {
  const here = thisPlace()
  return !place || place.boot === here.boot ? 'in another container or pid namespace' : `on host ${place.host}`
}

export const elsewhere = (agent: Agent, run: LiveRun): SkeinError =>
  new SkeinError(
    'agent-elsewhere',
    `${agent.address} runs ${placeName(run)}, and its tmux server cannot be reached from here`,
    `Stop it there: skein stop ${agent.address} . If that place is gone for good: skein restart ${agent.address} --force`,
  )
