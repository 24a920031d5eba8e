import type { Agent } from '../../model/index.js'
import { type Branch, drawBranches } from '../screen/branches.js'
import { safeText } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'

interface Folder<Shown> {
  folders: Map<string, Folder<Shown>>
  agents: Shown[]
}

/** Agents under the groups they are in, each drawn by `branchOf`. */
export function agentTree<Shown extends Agent>(
  agents: readonly Shown[],
  screen: Screen,
  branchOf: (agent: Shown, screen: Screen) => Branch,
): string {
  const root: Folder<Shown> = { folders: new Map(), agents: [] }
  for (const agent of agents) folderOf(root, agent).agents.push(agent)
  const branchesOf = ({ folders, agents: inside }: Folder<Shown>): Branch[] => [
    ...[...folders].map(([name, folder]) => ({
      parts: [{ text: `${safeText(name)}/`, paint: screen.paint.bold }],
      branches: branchesOf(folder),
    })),
    ...inside.map((agent) => branchOf(agent, screen)),
  ]
  return drawBranches(branchesOf(root), screen)
}

function folderOf<Shown extends Agent>(root: Folder<Shown>, { group_path }: Shown): Folder<Shown> {
  let folder = root
  for (const name of group_path?.split('/') ?? []) {
    const inside = folder.folders.get(name) ?? { folders: new Map(), agents: [] }
    folder.folders.set(name, inside)
    folder = inside
  }
  return folder
}
