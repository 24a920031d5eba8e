import { whereaboutsOf } from '../../disk/index.js'
import { type Agent, SkeinError } from '../../model/index.js'
import { endTree } from '../../terminal/index.js'
import type { Launching, LiveRun } from '../agent-run.js'
import { type Parts, pause } from '../parts.js'
import { elsewhere, lifeNow, markOf, ownerOf } from './run-life.js'

const LOOK_MS = 50
/** How long what was killed in another place may take to end. */
const KILL_MS = 3_000

/**
 * Ends all processes of a run, and gives back those that do not end. In another pid namespace the tmux server does it, which is asked
 * over its socket. Throws `agent-elsewhere` when that cannot be reached either: then nothing was done.
 */
export async function endRun(parts: Parts, agent: Agent, run: LiveRun, graceMs: number): Promise<number[]> {
  switch (whereaboutsOf(run.place)) {
    case 'here':
      return (await endTree(ownerOf(run), { graceMs, mark: markOf(run) })).map(({ pid }) => pid)
    case 'restarted':
      return []
    case 'elsewhere':
      return endThere(parts, agent, run, graceMs)
  }
}

/**
 * Ends what is left of a start whose maker was killed before it could record the run, and whose pane is gone: no pid of it is known, so its
 * processes are found by their mark alone.
 */
export async function endUnrecorded(launching: Launching | undefined, graceMs: number): Promise<number[]> {
  if (!launching || whereaboutsOf(launching.place) !== 'here') return []
  return (await endTree({ pid: 0 }, { graceMs, mark: markOf(launching) })).map(({ pid }) => pid)
}

async function endThere(parts: Parts, agent: Agent, run: LiveRun, graceMs: number): Promise<number[]> {
  if ((await lifeNow(parts, agent, run)) === 'unknown') throw elsewhere(agent, run)
  const terminal = await parts.terminals.of(run.socket)
  for (const [signal, ms] of [
    ['TERM', graceMs],
    ['KILL', KILL_MS],
  ] as const) {
    await terminal.signalMarked(markOf(run), signal)
    const until = performance.now() + ms
    do {
      if ((await lifeNow(parts, agent, run)) !== 'alive') return []
      await pause(LOOK_MS)
    } while (performance.now() < until)
  }
  return [run.pid]
}

/** What is left must not write into a conversation that is about to be resumed. */
export function refuseLeft(agent: Agent, left: readonly number[]): void {
  if (left.length === 0) return
  const pids = left.join(', ')
  throw new SkeinError(
    'agent-busy',
    `Processes of ${agent.address} did not exit: ${pids}`,
    'Kill them by hand, then try again',
  )
}
