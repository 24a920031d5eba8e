import { type Agent, parseSessionId, type SessionId } from '../../model/index.js'
import type { AgentRun } from '../agent-run.js'
import { type Parts, runnerOf } from '../parts.js'
import { givenEnv } from '../run/given-env.js'
import { prepareRun } from '../run/launch.js'
import { recipeOfTool } from '../run/start-plan.js'

/**
 * The id that the successor will have, in the form that its program gives it; undefined where the program alone decides. Its program must
 * be there before the predecessor is ended. It is started with the environment that the agent has: the shell in which an agent types
 * this may be a login shell with another PATH.
 */
export async function successorOf(
  parts: Parts,
  agent: Agent,
  run: AgentRun,
  tool: string | undefined,
): Promise<SessionId | undefined> {
  const { recipe } = recipeOfTool(run, tool ?? run.recipe.tool)
  const runner = runnerOf(parts, recipe.tool)
  const session = parseSessionId(parts.context.random.uuid())
  const env = givenEnv(parts, agent, recipe)
  const { preparation } = await prepareRun(parts, {
    agent,
    recipe,
    runner,
    how: 'new',
    session,
    tmuxSession: '',
    env,
    roles: await parts.home.programs.roles(),
  })
  switch (runner.can.chooseId) {
    case 'flag':
    case 'seed':
      return preparation.session ?? session
    case 'capture':
      return undefined
    case 'never':
      return runner.can.tells ? undefined : session // the run itself is its session
  }
}
