import { accessTo, DaemonClient, standingOf } from '../../../daemon/index.js'
import { formatDuration, type Instant, msOf } from '../../../model/index.js'
import { command } from '../../command.js'
import { card } from '../../screen/card.js'
import { formatBytes } from '../../screen/format-bytes.js'
import type { Screen } from '../../screen/screen.js'

/** What is known of a daemon from outside, and what it says of itself. */
interface Condition {
  running: boolean
  /** False when it runs and does not answer. */
  answers?: boolean
  pid?: number
  version?: string
  socket?: string
  started_at?: string
  memory_bytes?: number
  log: string
}

export const status = command({
  name: 'daemon status',
  summary: 'Show whether the daemon runs and is healthy',
  examples: [
    ['skein daemon status', 'Whether one runs for this profile'],
    ['skein daemon status --json', 'The same, for scripts'],
  ],
  args: {},
  options: {},
  async run(_, { daemon, profile, out }) {
    const access = accessTo(daemon, profile)
    const standing = standingOf(access)
    const { log } = access.place
    if (standing.kind === 'none') {
      const none: Condition = { running: false, log }
      return out.result(none, () => 'No daemon runs for this profile. Start it with: skein daemon start')
    }
    const { pid, version, socket, started_at } = standing.record
    const health = await DaemonClient.find(access.place, access.userId)
      ?.get('/v1/health')
      .catch(() => undefined)
    const condition: Condition = {
      running: true,
      answers: health !== undefined,
      pid,
      version,
      socket,
      started_at,
      ...memoryIn(health),
      log,
    }
    out.result(condition, (screen) => conditionView(condition, screen))
  },
})

function memoryIn(health: unknown): { memory_bytes?: number } {
  const isDocument = typeof health === 'object' && health !== null && 'memory_bytes' in health
  return isDocument && typeof health.memory_bytes === 'number' ? { memory_bytes: health.memory_bytes } : {}
}

function conditionView(condition: Condition, screen: Screen): string {
  const { pid, version, socket, started_at, memory_bytes, answers, log } = condition
  const age = started_at === undefined ? '' : `since ${formatDuration(screen.nowMs - msOf(started_at as Instant))}`
  return card(
    [
      ['daemon', answers ? `runs ${age}` : 'runs, but does not answer (skein daemon stop ends it)'],
      ['process', String(pid)],
      ['version', version],
      ['memory', memory_bytes === undefined ? undefined : formatBytes(memory_bytes)],
      ['socket', socket],
      ['log', log],
    ],
    screen,
  )
}
