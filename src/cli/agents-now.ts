import { accessTo, DaemonClient } from '../daemon/index.js'
import type { AgentView } from '../lifecycle/index.js'
import type { Cli } from './command.js'

export interface AgentFilter {
  readonly group?: string
  readonly all?: boolean
}

/** What agents do now: from the daemon, which knows it already, or else by looking at each of them. */
export async function agentsNow(cli: Cli, { group, all = false }: AgentFilter = {}): Promise<AgentView[]> {
  const query = new URLSearchParams({ ...(group === undefined ? {} : { group }), ...(all ? { all: '1' } : {}) })
  // Of this API's version, which is checked before it is asked.
  const answer = (await askDaemon(cli, `/v1/agents?${query}`)) as { agents: AgentView[] } | undefined
  if (answer) return answer.agents
  return (await cli.agents()).list({ all, ...(group === undefined ? {} : { group }) })
}

/** Until the daemon tells that something happened to an agent, but no longer than this, nor than the signal lets. */
export async function untilChange(cli: Cli, ms: number, signal: AbortSignal): Promise<void> {
  const enough = new AbortController()
  const stop = (): void => enough.abort()
  const timer = setTimeout(stop, ms)
  signal.addEventListener('abort', stop)
  try {
    for await (const { event } of clientOf(cli)?.events({ signal: enough.signal }) ?? []) {
      if (event.startsWith('agent_')) return
    }
    // No daemon, or no longer one.
    await new Promise<void>((resolve) => {
      if (enough.signal.aborted || signal.aborted) resolve()
      else enough.signal.addEventListener('abort', () => resolve())
    })
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
    stop()
  }
}

/** Undefined when no daemon runs, or it does not answer: then one does without. */
export async function askDaemon(cli: Cli, path: string): Promise<unknown> {
  return clientOf(cli)
    ?.get(path)
    .catch(() => undefined)
}

function clientOf({ daemon, profile }: Cli): DaemonClient | undefined {
  const { place, userId } = accessTo(daemon, profile)
  return DaemonClient.find(place, userId)
}
