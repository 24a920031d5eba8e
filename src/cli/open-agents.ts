import { type DaemonFacts, wakeDaemon } from '../daemon/index.js'
import { type Agents, agentsOf, type ConfiguredAgents, configuredParts } from '../lifecycle/index.js'

/** Look-ups that a command makes before it knows whether it may do what it was asked. */
const LOOKUPS: ReadonlySet<string | symbol> = new Set<keyof Agents>(['find', 'running', 'runs'])

/**
 * The agents of a home as the user has configured them, for one command; once something has succeeded, a daemon is started for the next
 * one: a refused command changes nothing. Loaded when a command asks for agents: an import of the two folders by name, so that other
 * commands need not load all that is in them.
 */
export async function openAgents(options: ConfiguredAgents & { daemon?: DaemonFacts }): Promise<Agents> {
  const parts = await configuredParts(options)
  const agents = agentsOf(parts)
  const { daemon, home } = options
  return daemon ? waking(agents, () => wakeDaemon(daemon, home.profile)) : agents
}

function waking(agents: Agents, wake: () => Promise<void>): Agents {
  let woken: Promise<void> | undefined
  return new Proxy(agents, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      if (typeof name === 'symbol' || LOOKUPS.has(name)) return member.bind(target)
      return async (...given: unknown[]) => {
        const result: unknown = await member.apply(target, given)
        woken ??= wake()
        await woken
        return result
      }
    },
  })
}
