import { onDemand } from '../model/index.js'
import type { Config } from './config.js'
import type { Programs } from './programs-api.js'
import type { Surroundings } from './surroundings.js'

/** The runners of all tools are loaded by whoever asks for them. */
export function openPrograms(config: Config, surroundings: Surroundings): Programs {
  const programs = onDemand(async () => {
    const { ConfiguredPrograms } = await import('./programs.js')
    return new ConfiguredPrograms(config, surroundings)
  })
  return {
    runners: async () => (await programs()).runners(),
    environment: async () => (await programs()).environment(),
    roles: () => config.roles(),
    admission: (group) => config.admission(group),
    turns: (group) => config.turns(group),
    onDone: () => config.onDone(),
    forkSetup: () => config.forkSetup(),
    zone: () => surroundings.zone,
  }
}
