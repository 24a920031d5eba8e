import { usageError } from '../operations/index.js'
import type { Cli } from './command.js'

/**
 * Hands the terminal over to an agent's pane, and marks what the agent has finished as seen: on the way in, because closing
 * the terminal ends this process, and on the way out, for what was finished meanwhile. False when nobody sits at a terminal;
 * then nothing is marked. Throws `agent-not-running` when there is no pane to go to.
 */
export async function visit(agent: string, { agents: open, tmux, handOver, isAttended }: Cli): Promise<boolean> {
  const agents = await open()
  if (isAttended) await agents.wake(agent)
  const argv = await agents.attachCommand(agent, tmux === undefined ? {} : { tmux })
  using _attended = await agents.attend(agent)
  let seen: Promise<unknown> | undefined
  const isVisited = await handOver(argv, () => {
    seen = agents.ack(agent).catch(() => undefined) // whoever looks at the agent need not know that this failed
  })
  await seen
  if (isVisited) await agents.ack(agent).catch(() => undefined)
  return isVisited
}

/** Refuses `--attach` where nobody could be attached, before anything is changed. */
export function refuseUnattended({ isAttended, out }: Cli): void {
  if (out.json) throw usageError('--attach and --json exclude each other', 'Use one of them')
  if (!isAttended) throw usageError('--attach needs a terminal', 'Leave it out, and attach later: skein attach <agent>')
}
