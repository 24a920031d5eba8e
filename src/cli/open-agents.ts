import { type DaemonFacts, wakeDaemon } from '../daemon/index.js'
import { type Agents, agentsOf, type ConfiguredAgents, configuredParts } from '../lifecycle/index.js'

/**
 * The agents of a home as the user has configured them, for one command; a daemon is started for the next one. Loaded when a command asks
 * for agents: an import of the two folders by name, so that other commands need not load all that is in them.
 */
export async function openAgents(options: ConfiguredAgents & { daemon?: DaemonFacts }): Promise<Agents> {
  const parts = await configuredParts(options)
  if (options.daemon) await wakeDaemon(options.daemon, options.home.profile)
  return agentsOf(parts)
}
