import { lifeOf, type ProcessOwner } from '../../disk/index.js'
import { type Agent, SkeinError } from '../../model/index.js'
import { isListeningAt, type PaneInfo, restoreSocket, type SessionLook } from '../../terminal/index.js'
import type { AgentRun, LiveRun } from '../agent-run.js'
import type { Parts } from '../parts.js'
import type { ReadyRun } from './launch.js'
import { serverOf } from './run-life.js'
import { tmuxNameWithId } from './tmux-name.js'

/** `respawned`: in the pane that it had. */
export type Tier = 'respawned' | 'recreated'

/** In the pane it had, so that who looks at it goes on looking; else in a new one. */
export async function makePane(
  parts: Parts,
  agent: Agent,
  { run, recipe }: AgentRun,
  { script, launching, again }: ReadyRun,
  look: SessionLook = {},
): Promise<{ pane: PaneInfo; tier: Tier }> {
  await reachServer(parts)
  const terminal = await parts.terminals.of(parts.socket)
  const mayBeThere = run && JSON.stringify(run.socket) === JSON.stringify(parts.socket) && !isServerGone(run)
  const old = mayBeThere ? await terminal.pane(run.pane).catch(() => undefined) : undefined
  if (old?.agent === agent.id) {
    return { pane: await terminal.respawn(old.pane, { cwd: recipe.cwd, script, again, ...look }), tier: 'respawned' }
  }
  const wanted = { cwd: recipe.cwd, script, again, agent: agent.id, ...look }
  const create = async (session: string): Promise<PaneInfo> => {
    try {
      return await terminal.create({ ...wanted, session })
    } catch (error) {
      // The server had just been ended, being empty: then nothing was made, and a new one starts.
      if (!(error instanceof SkeinError) || error.code !== 'tmux-gone') throw error
      return terminal.create({ ...wanted, session })
    }
  }
  try {
    return { pane: await create(launching.tmux_session), tier: 'recreated' }
  } catch (error) {
    const isTaken =
      error instanceof SkeinError && error.code === 'tmux-refused' && /duplicate session/.test(error.message)
    if (!isTaken) throw error
    return { pane: await create(tmuxNameWithId(agent)), tier: 'recreated' }
  }
}

/** Then its pane went with it: after a dead server nobody asks the new one for the panes of fifty agents. */
function isServerGone(run: LiveRun): boolean {
  const server = serverOf(run)
  return server !== undefined && lifeOf(server) === 'dead'
}

/** A server that has lost its socket is used again: a second one in its place would take it from the agents of the first for good. */
async function reachServer({ runs, socket }: Parts): Promise<void> {
  if (!('path' in socket) || (await isListeningAt(socket.path))) return
  const servers = new Map<string, ProcessOwner>()
  for (const { run } of await runs.all()) {
    const server = run && JSON.stringify(run.socket) === JSON.stringify(socket) ? serverOf(run) : undefined
    if (server) servers.set(`${server.pid} ${server.starttime}`, server)
  }
  for (const server of servers.values()) if (await restoreSocket(socket.path, server)) return
}
