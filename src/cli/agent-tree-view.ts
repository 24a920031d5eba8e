import { type Agent, splitAddress } from '../model/index.js'
import { type Branch, drawBranches } from './branches.js'
import { safeText } from './safe-text.js'
import type { Screen } from './screen.js'

interface Folder {
  folders: Map<string, Folder>
  agents: Agent[]
}

/** Agents under the groups they are in. */
export function agentTreeView(agents: readonly Agent[], screen: Screen): string {
  const root: Folder = { folders: new Map(), agents: [] }
  for (const agent of agents) folderOf(root, agent).agents.push(agent)
  return drawBranches(branchesOf(root, screen))
}

function folderOf(root: Folder, { group_path }: Agent): Folder {
  let folder = root
  for (const name of group_path?.split('/') ?? []) {
    const inside = folder.folders.get(name) ?? { folders: new Map(), agents: [] }
    folder.folders.set(name, inside)
    folder = inside
  }
  return folder
}

function branchesOf({ folders, agents }: Folder, screen: Screen): Branch[] {
  const groups = [...folders].map(([name, folder]) => ({
    label: screen.paint.bold(`${safeText(name)}/`),
    branches: branchesOf(folder, screen),
  }))
  return [...groups, ...agents.map((agent) => ({ label: agentLabel(agent, screen), branches: [] }))]
}

function agentLabel(agent: Agent, { paint }: Screen): string {
  const { name } = splitAddress(agent.address)
  const title = agent.title === name ? '' : `  ${safeText(agent.title)}`
  const role = agent.role ? `, ${safeText(agent.role)}` : ''
  return `${paint.cyan(safeText(name))}  ${paint.dim(`${safeText(agent.tool)}${role}`)}${title}`
}
