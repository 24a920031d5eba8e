import { accessTo, DaemonClient, daemonStateOf } from '../../../daemon/index.js'
import { formatDuration, type Instant, msOf } from '../../../model/index.js'
import { present } from '../../../operations/index.js'
import { command } from '../../command.js'
import { card } from '../../screen/card.js'
import { formatBytes } from '../../screen/format-bytes.js'
import { plural } from '../../screen/plural.js'
import { safe } from '../../screen/safe-text.js'
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
  event_loop?: LoopDelay
  ingest?: Ingest
  log: string
}

interface LoopDelay {
  p99_ms: number
  max_ms: number
}

interface Ingest {
  state: string
  log?: string
  restarts: number
  set_aside: { path: string; reason: string }[]
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
    const standing = daemonStateOf(access)
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
      ...conditionIn(health),
      log,
    }
    out.result(condition, (screen) => conditionView(condition, screen))
  },
})

/** What an older daemon does not tell is left out. */
function conditionIn(health: unknown): Pick<Condition, 'memory_bytes' | 'event_loop' | 'ingest'> {
  if (typeof health !== 'object' || health === null) return {}
  const { memory_bytes, event_loop, ingest } = health as Condition
  return present({ memory_bytes, event_loop, ingest })
}

function conditionView(condition: Condition, screen: Screen): string {
  const { pid, version, socket, started_at, memory_bytes, event_loop, ingest, answers, log } = condition
  const age = started_at === undefined ? '' : `since ${formatDuration(screen.nowMs - msOf(started_at as Instant))}`
  return card(
    [
      ['daemon', answers ? `runs ${age}` : 'runs, but does not answer (skein daemon stop ends it)'],
      ['process', String(pid)],
      ['version', version],
      ['memory', memory_bytes === undefined ? undefined : formatBytes(memory_bytes)],
      ['longest wait', event_loop && `${event_loop.max_ms} ms`],
      ['logs', ingest && logsLine(ingest)],
      ...(ingest?.set_aside ?? []).map(({ path, reason }): [string, string] => [
        'passed over',
        safe`${path} (${reason})`,
      ]),
      ['socket', socket],
      ['log', log],
    ],
    screen,
  )
}

function logsLine({ state, log, restarts }: Ingest): string {
  const doing = log === undefined ? state : safe`${state} ${log}`
  return restarts === 0 ? doing : `${doing}; the process that reads them was restarted ${plural(restarts, 'time')}`
}
