import { readSettings } from '../../home/index.js'
import { parseDaemonSettings } from '../daemon-settings.js'
import { accessTo, type DaemonFacts } from '../http/access.js'
import { DaemonClient } from '../http/client.js'
import { daemonStateOf, spawnDaemon } from '../launch.js'

/**
 * For commands that are better with a daemon: sees to it that there will be one, unless the user does not want that, and does not wait
 * for it. This command does without; the next one has it.
 */
export async function wakeDaemon(facts: DaemonFacts, profile: string): Promise<void> {
  const access = accessTo(facts, profile)
  const standing = daemonStateOf(access)
  if (standing.kind === 'usable' || standing.kind === 'foreign') return
  if (!parseDaemonSettings(await readSettings(facts.configFile), facts.configFile).autostart) return
  // It need not have ended: the new one waits for its place.
  if (standing.kind === 'older')
    await DaemonClient.find(access.place, access.userId)
      ?.post('/v1/stop')
      .catch(() => {})
  spawnDaemon(access)
}
