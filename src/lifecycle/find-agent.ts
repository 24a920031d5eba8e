import type { Home } from '../home/index.js'
import type { Agent } from '../model/index.js'

/** The agent that is meant: see `agentsNamed` for the ways to name one. */
export const findAgent = (home: Home, reference: string): Promise<Agent> => home.roster.agent(reference)
