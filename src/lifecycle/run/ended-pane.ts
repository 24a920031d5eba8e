import type { Agent } from '../../model/index.js'
import type { AgentRun } from '../agent-run.js'
import type { Parts } from '../parts.js'

/**
 * Closes the pane of a program that has ended, with its last lines; the tmux server ends with its last pane. With `isKeptWhileSeen`, a
 * person who looks at it may read on: it closes when they leave.
 */
export async function closeEndedPane(
  { terminals }: Pick<Parts, 'terminals'>,
  agent: Pick<Agent, 'id'>,
  { socket, pane: id }: Pick<NonNullable<AgentRun['run']>, 'socket' | 'pane'>,
  { isKeptWhileSeen = false } = {},
): Promise<void> {
  const terminal = await terminals.of(socket).catch(() => undefined)
  const pane = await terminal?.pane(id).catch(() => undefined)
  // A later server gives the same number to another pane.
  if (pane?.agent !== agent.id || !pane.isDead) return
  const closing = isKeptWhileSeen ? terminal?.closeUnseen(pane.pane) : terminal?.close(pane.session)
  await closing?.catch(() => undefined)
  await terminal?.endIfEmpty()
}
