import { join } from 'node:path'
import { openHome } from '../../src/home/index.js'
import { type Agents, agentsOf } from '../../src/lifecycle/index.js'
import { partsOf } from '../../src/lifecycle/open-agents.js'
import type { ToolRunner } from '../../src/tools/index.js'
import { contextOf } from './context.js'

/** The home and the agents of a workshop, opened by another process. */
export async function openedAgain(root: string, runners: readonly ToolRunner[]) {
  const env = process.env as Record<string, string>
  const context = contextOf([])
  const surroundings = { home: root, env, zone: 'UTC' }
  const home = await openHome({ root, configFile: join(root, 'config.toml'), surroundings, context })
  const socket = { path: join(root, 'tmux.sock') }
  const environment = { home: root, env }
  const agents: Agents = agentsOf(partsOf({ home, context, runners, environment, socket, defaultTool: 'claude' }))
  return { home, agents }
}

/** Ends this process without notice before the step of that name. */
export const killedBefore =
  (last: string) =>
  (step: string): void => {
    if (step !== last) return
    process.kill(process.pid, 'SIGKILL')
    for (;;);
  }
