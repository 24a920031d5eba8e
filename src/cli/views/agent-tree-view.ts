import { type Agent, splitAddress } from '../../model/index.js'
import { type Branch, drawBranches } from '../screen/branches.js'
import { safeText } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'

interface Folder {
  folders: Map<string, Folder>
  agents: Agent[]
}

/** Agents under the groups they are in. */
export function agentTreeView(agents: readonly Agent[], screen: Screen): string {
  const root: Folder = { folders: new Map(), agents: [] }
  for (const agent of agents) folderOf(root, agent).agents.push(agent)
  return drawBranches(branchesOf(root, screen), screen)
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
    parts: [{ text: `${safeText(name)}/`, paint: screen.paint.bold }],
    branches: branchesOf(folder, screen),
  }))
  return [...groups, ...agents.map((agent) => agentBranch(agent, screen))]
}

function agentBranch(agent: Agent, { paint }: Screen): Branch {
  const { name } = splitAddress(agent.address)
  const facts = [agent.tool, ...(agent.role ? [agent.role] : [])].map(safeText).join(', ')
  return {
    parts: [
      { text: safeText(name), paint: paint.cyan },
      { text: `(${facts})`, paint: paint.dim },
    ],
    title: agent.title === name ? undefined : safeText(agent.title),
    branches: [],
  }
}
