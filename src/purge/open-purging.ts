import { purgeStamp } from '../store/index.js'
import type { PurgeSetup } from './purge.js'
import type { Purging } from './purge-api.js'

/** Purging loads every store; asking whether something was purged loads none. */
export function openPurging(setup: PurgeSetup): Purging {
  return {
    lastPurge: () => purgeStamp(setup.root),
    async purge(options) {
      const { Purge } = await import('./purge.js')
      return new Purge(setup).run(options)
    },
  }
}
