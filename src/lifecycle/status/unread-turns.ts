import type { SessionId } from '../../model/index.js'
import { foldSession, LOG_TOOLS, type LoggedTurn } from '../../tools/index.js'
import type { AgentRun } from '../agent-run.js'
import type { Parts } from '../parts.js'

/** From a log that is so new that it was not ingested yet: the program, or its tool, knows where it is. */
export function unreadTurns(
  { environment }: Parts,
  { recipe, binding }: AgentRun,
  session: SessionId,
): readonly LoggedTurn[] {
  const tool = LOG_TOOLS.find(({ name }) => name === recipe.tool)
  const log = binding?.log
    ? tool?.logAt(binding.log, session)
    : tool?.discover(environment).find((one) => one.session === session)
  try {
    return tool && log ? foldSession([tool.read(log)]).turns : []
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    return [] // a log that cannot be read is no reply
  }
}
