import { type ChildProcess, spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HomeDirectory } from '../home-guard.js'
import type { FromIntake, ToIntake } from './intake-process.js'

/** Running agents come first. */
const LOW_PRIORITY = 10
/** The heap it may have, in megabytes: many times what it needs, and less than what would hurt a machine. */
const MOST_HEAP = 1_024
/** Reading a slice of a log takes about a second; nothing takes this long. */
const STUCK_MS = 300_000
const LOOK_MS = 5_000
/** Before the process is started again; doubled each time, up to the most. */
const BACK_OFF_MS = { first: 1_000, most: 60_000 }
/** A process that ran this long was in good health. */
const HEALTHY_MS = 600_000
/** A log that ended the process this often is passed over. */
const MOST_STRIKES = 2
const END_MS = 3_000

/** A log that is passed over, and why. */
export interface SetAsideLog {
  readonly path: string
  readonly reason: string
}

export interface IntakeState {
  readonly state: 'starting' | 'reading' | 'waiting' | 'restarting'
  /** What is being read. */
  readonly log?: string
  readonly restarts: number
  readonly set_aside: readonly SetAsideLog[]
}

export interface IntakeSetup {
  /** What Node runs: the program and what it is given. */
  readonly argv: readonly string[]
  /** The home that the daemon has open. */
  readonly home: HomeDirectory
  readonly signal: AbortSignal
  say(line: string): void
  /** For tests. */
  readonly stuckMs?: number
  readonly backOffMs?: number
}

/**
 * Reads what the tools write into their logs, as they write it, in a process of its own: whatever a log does to it, the daemon goes on
 * answering. When that process dies or gets stuck it is started again, later each time; a log that it was reading twice is named
 * and passed over.
 */
export class LogIntake {
  #state: IntakeState['state'] = 'starting'
  #log: string | undefined
  #restarts = 0
  readonly #strikes = new Map<string, number>()
  readonly #setAside = new Map<string, string>()

  constructor(private readonly setup: IntakeSetup) {}

  get state(): IntakeState {
    const set_aside = [...this.#setAside].map(([path, reason]) => ({ path, reason }))
    const log = this.#log === undefined ? {} : { log: this.#log }
    return { state: this.#state, ...log, restarts: this.#restarts, set_aside }
  }

  /** Resolves when the signal aborts and the process has ended. */
  async run(): Promise<void> {
    const { signal, say, backOffMs = BACK_OFF_MS.first } = this.setup
    for (let wait = backOffMs; ; ) {
      const startedAt = performance.now()
      const reason = await this.#runOnce()
      if (signal.aborted) return
      const isHealthy = performance.now() - startedAt > HEALTHY_MS
      wait = isHealthy ? backOffMs : wait
      const log = this.#log
      this.#log = undefined
      this.#state = 'restarting'
      this.#restarts += 1
      say(`the process that reads the logs ended (${reason})${log === undefined ? '' : ` while it read ${log}`}`)
      if (log !== undefined) this.#strike(log, reason)
      await sleep(wait, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      wait = Math.min(wait * 2, BACK_OFF_MS.most)
    }
  }

  #strike(log: string, reason: string): void {
    const strikes = (this.#strikes.get(log) ?? 0) + 1
    this.#strikes.set(log, strikes)
    if (strikes < MOST_STRIKES) return
    this.#setAside.set(log, reason)
    this.setup.say(`${log} is skipped from now on: reading it ended the process ${strikes} times`)
  }

  /** Resolves with why it ended. */
  async #runOnce(): Promise<string> {
    const { argv, signal, stuckMs = STUCK_MS } = this.setup
    if (signal.aborted) return 'not wanted'
    this.#state = 'starting'
    const child = spawn(process.execPath, [`--max-old-space-size=${MOST_HEAP}`, ...argv], {
      cwd: '/',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    let heardAt = performance.now()
    let isStuck = false
    child.on('spawn', () => lowerPriority(child))
    child.on('message', (message: FromIntake) => {
      heardAt = performance.now()
      this.#hear(message)
    })
    const stuck = setInterval(
      () => {
        if (this.#log === undefined || performance.now() - heardAt < stuckMs) return
        isStuck = true
        child.kill('SIGKILL')
      },
      Math.min(LOOK_MS, stuckMs),
    )
    const end = (): void => endChild(child)
    signal.addEventListener('abort', end)
    try {
      const ended = new Promise<string>((resolve) => {
        child.on('error', (error) => resolve(error.message))
        child.on('exit', (code, killedBy) => resolve(isStuck ? 'it hung' : String(code ?? killedBy)))
      })
      if (child.connected)
        child.send({ skip: [...this.#setAside.keys()], home: this.setup.home } satisfies ToIntake, () => {})
      return await ended
    } finally {
      clearInterval(stuck)
      signal.removeEventListener('abort', end)
    }
  }

  #hear(message: FromIntake): void {
    if ('warning' in message) {
      this.setup.say(message.warning)
      return
    }
    this.#log = message.reading
    this.#state = message.reading === undefined ? 'waiting' : 'reading'
  }
}

function lowerPriority(child: ChildProcess): void {
  try {
    setPriority(child.pid ?? 0, LOW_PRIORITY)
  } catch {
    // It runs all the same.
  }
}

/** It ends when nobody listens any more. */
function endChild(child: ChildProcess): void {
  if (child.connected) child.disconnect()
  const impatient = setTimeout(() => child.kill('SIGKILL'), END_MS)
  child.once('exit', () => clearTimeout(impatient))
}
