import type { Home } from '../../home/index.js'
import { type HomeDirectory, HomeGuard, isThere } from '../home-guard.js'
import { retain } from './retain.js'

/** Watching tells at once; this is for what it missed. With years of logs a look takes a third of a second. */
const LOOK_AGAIN_MS = 300_000
/** How often is asked whether the snapshots are due for upkeep. The first time it does not compete with the start of agents. */
const TIDY_LOOK_MS = 120_000
/** How often old events are looked for; whether any go is the policy's business. */
export const RETENTION_MS = 15 * 60_000

/** What the daemon tells the process that reads logs, once. */
export interface ToIntake {
  /** Logs to be passed over. */
  skip: string[]
  /** The home that the daemon has open: if it is gone, opening it would make another one. */
  home: HomeDirectory
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
  /** Ends the process at once: its home is gone, and the next write would make a new one. */
  abandon(): void
  now(): number
}

/** Reads what the tools write into their logs until the daemon is gone. In a process of its own: it may take long, and much memory. */
export async function runIntake({ openHome, signal, send, told, abandon, now }: IntakeProcess): Promise<void> {
  const { skip, home: directory } = await told
  if (signal.aborted || !isThere(directory)) return
  const setAside = new Set(skip)
  await using home = await openHome()
  using _guard = new HomeGuard(directory, abandon)
  const retention = setInterval(() => {
    retain(home).catch((error: unknown) => send({ warning: `retention stopped: ${String(error)}` }))
  }, RETENTION_MS)
  let isTidying = false
  const tidy = async (): Promise<void> => {
    const { isTidyDue, tidySnapshots } = await import('./tidy-snapshots.js')
    const warning = isTidyDue(home, now()) ? await tidySnapshots(home, now()) : undefined
    if (warning !== undefined) send({ warning })
  }
  const tidying = setInterval(() => {
    if (isTidying) return
    isTidying = true
    tidy()
      .catch((error: unknown) => send({ warning: `upkeep of snapshots stopped: ${String(error)}` }))
      .finally(() => {
        isTidying = false
      })
  }, TIDY_LOOK_MS)
  try {
    await home.history.watch({
      signal,
      lookAgainMs: LOOK_AGAIN_MS,
      onReading: (path) => send({ reading: path }),
      isSetAside: (path) => setAside.has(path),
    })
  } finally {
    clearInterval(retention)
    clearInterval(tidying)
  }
}
