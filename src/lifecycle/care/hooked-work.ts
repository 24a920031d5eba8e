import type { Home } from '../../home/index.js'

const MOST_HOOKED = 10_000

/** The agents with mail on their hook, a handoff for one, by their ids. */
export const agentsWithHookedMail = async ({ work }: Pick<Home, 'work'>): Promise<Set<string>> =>
  new Set((await work.hookedMail()).flatMap(({ to_agent_id }) => to_agent_id ?? []))

/** The unit of work on the hook of each agent, by the agent's id. Only for the built-in provider, where that is one query. */
export async function hookedWork({ work }: Pick<Home, 'work'>): Promise<Map<string, string>> {
  const hooked = await work.list({ status: ['hooked', 'in_progress'], limit: MOST_HOOKED })
  // The most urgent comes first, and stays.
  return new Map(hooked.reverse().flatMap(({ agent_id, id }) => (agent_id ? [[agent_id, id] as const] : [])))
}
