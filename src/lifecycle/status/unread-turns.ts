import type { SessionId } from '../../model/index.js'
import {
  type Environment,
  foldSession,
  LOG_TOOLS,
  type LoggedTurn,
  type LogRef,
  type LogTool,
} from '../../tools/index.js'
import type { AgentRun } from '../agent-run.js'
import type { Parts } from '../parts.js'

/** Logs whose name does not say whose they are: so many of the newest are asked. */
const MOST_ASKED = 20

/** From a log that is so new that it was not ingested yet: the program, or its tool, knows where it is. */
export function unreadTurns(
  { environment }: Parts,
  { recipe, binding }: AgentRun,
  session: SessionId,
): readonly LoggedTurn[] {
  const tool = LOG_TOOLS.find(({ name }) => name === recipe.tool)
  const log = binding?.log ? tool?.logAt(binding.log, session) : tool && logOf(tool, environment, session)
  try {
    return tool && log ? foldSession([tool.read(log)]).turns : []
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    return [] // a log that cannot be read is no reply
  }
}

function logOf(tool: LogTool, environment: Environment, session: SessionId): LogRef | undefined {
  const logs = tool.discover(environment)
  const named = logs.find((one) => one.session === session)
  if (named) return named
  const unnamed = logs.filter((one) => one.session === undefined && one.agent === undefined)
  const newest = unnamed.sort((a, b) => (a.modified_at > b.modified_at ? -1 : 1)).slice(0, MOST_ASKED)
  return newest.find((one) => idOf(tool, one) === session)
}

function idOf(tool: LogTool, log: LogRef): SessionId | undefined {
  try {
    return tool.identify(log).id
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    return undefined // gone, or not ours to read
  }
}
