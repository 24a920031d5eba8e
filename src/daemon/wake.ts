import { readSettings } from '../home/index.js'
import { accessTo, type DaemonFacts } from './access.js'
import { DaemonClient } from './client.js'
import { parseDaemonSettings } from './daemon-settings.js'
import { spawnDaemon, standingOf } from './launch.js'

/**
 * For commands that are better with a daemon: sees to it that there will be one, unless the user does not want that, and does not wait
 * for it. This command does without; the next one has it.
 */
export async function wakeDaemon(facts: DaemonFacts, profile: string): Promise<void> {
  const access = accessTo(facts, profile)
  const standing = standingOf(access)
  if (standing.kind === 'usable' || standing.kind === 'foreign') return
  if (!parseDaemonSettings(await readSettings(facts.configFile), facts.configFile).autostart) return
  // It need not have ended: the new one waits for its place.
  if (standing.kind === 'older')
    await DaemonClient.find(access.place, access.userId)
      ?.post('/v1/stop')
      .catch(() => {})
  spawnDaemon(access)
}
