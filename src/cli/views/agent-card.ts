import type { Agent } from '../../model/index.js'
import { card } from '../screen/card.js'
import { localAndRelativeTime } from '../screen/moment.js'
import { safe } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'

/** Everything about one agent, and what one can type next. */
export function agentCard(agent: Agent, spawner: Agent | undefined, screen: Screen): string {
  const facts = card(
    [
      ['agent', agent.address],
      ['id', agent.id],
      ['title', agent.title],
      ['tool', agent.tool],
      ['command', agent.command],
      ['project', agent.project_path],
      ['role', agent.role],
      ['parent', spawner?.address],
      ['mcp', agent.loaded_mcp_names?.join(' ')],
      ['created', localAndRelativeTime(agent.created_at, screen.nowMs)],
      ['updated', localAndRelativeTime(agent.updated_at, screen.nowMs)],
    ],
    screen,
  )
  return `${facts}\n\nNext:\n  ${safe`skein sessions list --agent ${agent.address}`}`
}
