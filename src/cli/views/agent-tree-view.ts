import { type Agent, splitAddress } from '../../model/index.js'
import type { Branch } from '../screen/branches.js'
import { safeText } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'
import { type AgentTree, agentTree } from './agent-tree.js'

/** Agents under the groups they are in. */
export const agentTreeView = (tree: AgentTree<Agent>, screen: Screen): string =>
  agentTree(tree, screen, { branchOf: agentBranch })

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
