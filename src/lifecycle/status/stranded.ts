import { type Agent, type AgentStatus, SkeinError } from '../../model/index.js'
import type { LiveRun } from '../agent-run.js'
import { nowOf, type Parts } from '../parts.js'
import { paneOf, serverOf } from '../run/run-life.js'
import { processSeen } from './process-evidence.js'

/** By its status: its pane or its tmux server is gone. Of a run that has not ended, that is a process that nobody can reach. */
export const hasNoTerminal = ({ source, trouble }: AgentStatus): boolean =>
  source === 'process' && (trouble === 'tmux-gone' || trouble === 'dead-pane')

/** Refuses what needs the terminal of an agent whose process has outlived it: the way out is another one than for an agent that runs. */
export async function refuseStranded(parts: Parts, agent: Agent, run: LiveRun): Promise<void> {
  const look = await parts.terminals.look(run.socket, serverOf(run))
  const pane = paneOf(agent, run, look)
  const { evidence, isOver } = processSeen(run, look, pane, undefined, nowOf(parts))
  if (pane || isOver || evidence.status !== 'error') return
  const next = `End it and go on with its conversation: skein recover ${agent.address} , or only end it: skein stop ${agent.address}`
  throw new SkeinError('pane-gone', `${agent.address} cannot be reached: ${evidence.reason}`, next)
}
