import type { Agent } from '../../model/index.js'
import type { AgentRun } from '../agent-run.js'
import type { Parts } from '../parts.js'

/** Closes the pane of a program that has ended, with its last lines; the tmux server ends with its last pane. */
export async function closeEndedPane(
  { terminals }: Pick<Parts, 'terminals'>,
  agent: Pick<Agent, 'id'>,
  { socket, pane: id }: Pick<NonNullable<AgentRun['run']>, 'socket' | 'pane'>,
): Promise<void> {
  const terminal = await terminals.of(socket).catch(() => undefined)
  const pane = await terminal?.pane(id).catch(() => undefined)
  // A later server gives the same number to another pane.
  if (pane?.agent !== agent.id || !pane.isDead) return
  await terminal?.close(pane.session).catch(() => undefined)
  await terminal?.endIfEmpty()
}
