import type { Home } from '../home/index.js'

/** Watching tells at once; this is for what it missed. With years of logs a look takes a third of a second. */
const LOOK_AGAIN_MS = 300_000
/** How often old events are looked for; whether any go is the policy's business. */
export const RETENTION_MS = 15 * 60_000

/** What the daemon tells the process that reads logs, once. */
export interface ToIntake {
  /** Logs to be passed over. */
  skip: string[]
}

/** What that process tells the daemon. */
export type FromIntake =
  /** Before a log is read, and after each slice of it; undefined: there is nothing to read. */
  { reading: string | undefined } | { warning: string }

export interface IntakeProcess {
  openHome(): Promise<Home>
  /** Aborted when the daemon is gone. */
  readonly signal: AbortSignal
  send(message: FromIntake): void
  /** What the daemon says first. */
  readonly told: Promise<ToIntake>
}

/** Reads what the tools write into their logs until the daemon is gone. In a process of its own: it may take long, and much memory. */
export async function runIntake({ openHome, signal, send, told }: IntakeProcess): Promise<void> {
  const { skip } = await told
  if (signal.aborted) return
  const setAside = new Set(skip)
  await using home = await openHome()
  const retention = setInterval(() => {
    home.events
      .prune({ auto: true })
      .catch((error: unknown) => send({ warning: `retention stopped: ${String(error)}` }))
  }, RETENTION_MS)
  try {
    await home.history.watch({
      signal,
      lookAgainMs: LOOK_AGAIN_MS,
      onReading: (path) => send({ reading: path }),
      isSetAside: (path) => setAside.has(path),
    })
  } finally {
    clearInterval(retention)
  }
}
