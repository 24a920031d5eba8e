import type { DaemonAccess } from '../launch.js'
import { daemonPlace } from '../place.js'

/** What an entry point knows of its surroundings that concerns daemons. */
export interface DaemonFacts {
  /** The home's root. */
  readonly root: string
  readonly configFile: string
  /** Where temporary files go on this machine. */
  readonly temporary: string
  readonly userId: number | undefined
  readonly version: string
  /** The daemon's own program, for Node to run. */
  readonly program: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly platform: string
}

export const accessTo = (facts: DaemonFacts, profile: string): DaemonAccess => ({
  place: daemonPlace({ root: facts.root, profile, temporary: facts.temporary, userId: facts.userId }),
  profile,
  userId: facts.userId,
  version: facts.version,
  program: facts.program,
  env: facts.env,
})
