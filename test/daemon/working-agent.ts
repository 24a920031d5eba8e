import { type Agent, parseSessionId } from '../../src/model/index.js'
import type { Herd } from './herd.js'

/** An agent that works in this directory, in a conversation. */
export async function working(
  herd: Herd,
  address: string,
  { cwd, session, args }: { cwd: string; session: string; args?: string[] },
): Promise<Agent> {
  const agent = await herd.add(address)
  await herd.home.sessions.start({ id: session, agent: address })
  await herd.runs.update(agent, (run) => {
    if (!run) return undefined
    const how = 'chosen' as const
    const binding = { session: parseSessionId(session), since: run.status.since, how, is_confirmed: true }
    const recipe = { ...run.recipe, cwd, ...(args ? { args } : {}) }
    return { next: { ...run, recipe, binding }, result: undefined }
  })
  return agent
}
