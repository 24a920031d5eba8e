import type { Cli } from './command.js'
import { clientOf } from './perform.js'

/** Until the daemon tells that something happened to an agent, but no longer than this, nor than the signal lets. */
export async function untilChange(cli: Cli, ms: number, signal: AbortSignal): Promise<void> {
  const enough = new AbortController()
  const stop = (): void => enough.abort()
  const timer = setTimeout(stop, ms)
  signal.addEventListener('abort', stop)
  try {
    for await (const { event } of (await clientOf(cli))?.events({ signal: enough.signal }) ?? []) {
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
