import { processStat, whereaboutsOf } from '../../disk/index.js'
import { type Instant, instantOf, msOf } from '../../model/index.js'
import { processTree } from '../../terminal/index.js'
import type { LiveRun } from '../agent-run.js'
import { markOf, ownerOf } from '../run/run-life.js'

/** Ticks of the kernel, of 10 ms each. */
const TICK_MS = 10

interface Sample {
  /** The CPU time of each process, by pid and start time. */
  readonly cpu: ReadonlyMap<string, number>
  readonly workedAt?: Instant
}

/**
 * Whether an agent waits for processes that its turn has started, such as a long build, and when they last did something. It remembers
 * what it saw: work shows as CPU time that grows between two looks, or as a process that is new.
 */
export class ToolWork {
  readonly #samples = new Map<string, Sample>()

  /** Undefined when nothing that began after `since` lives. Linux only, and only where the agent runs. */
  look(live: LiveRun, since: Instant, nowMs: number): { worked_at?: Instant } | undefined {
    const before = this.#samples.get(live.id)
    const cpu = whereaboutsOf(live.place) === 'here' ? toolProcesses(live, nowMs - msOf(since)) : new Map()
    if (cpu.size === 0) {
      this.#samples.delete(live.id)
      return undefined
    }
    const hasWorked = [...cpu].some(([key, ticks]) => ticks !== before?.cpu.get(key))
    const workedAt = hasWorked ? instantOf(nowMs) : before?.workedAt
    this.#samples.set(live.id, { cpu, ...(workedAt ? { workedAt } : {}) })
    return workedAt ? { worked_at: workedAt } : {}
  }

  keepOnly(runs: ReadonlySet<string>): void {
    for (const id of this.#samples.keys()) if (!runs.has(id)) this.#samples.delete(id)
  }
}

/** Processes of a run that are younger than the turn, without the program itself: servers that came with it are older. */
function toolProcesses(live: LiveRun, turnMs: number): Map<string, number> {
  const upMs = uptimeMs()
  const own = new Set([live.pid, live.program_pid])
  const found = processTree(ownerOf(live), markOf(live)).flatMap(({ pid, starttime }): [string, number][] => {
    const stat = own.has(pid) ? undefined : processStat(pid)
    if (stat?.starttime !== starttime || upMs - starttime * TICK_MS > turnMs) return []
    return [[`${pid}:${starttime}`, stat.cpu]]
  })
  return new Map(found)
}

/** Servers that a program starts with itself come within this. */
const WITH_PROGRAM_MS = 60_000

/** Processes that the agent has started in the course of its work and that still live: what it left in the background. */
export function lateProcesses(live: LiveRun): number[] {
  if (whereaboutsOf(live.place) !== 'here' || live.process_start === undefined) return []
  const from = live.process_start + WITH_PROGRAM_MS / TICK_MS
  const own = new Set([live.pid, live.program_pid])
  return processTree(ownerOf(live), markOf(live)).flatMap(({ pid, starttime }) =>
    own.has(pid) || starttime < from ? [] : [pid],
  )
}

/** Since the machine was started: this process knows when it was started itself, and for how long it runs. */
const uptimeMs = (): number => (processStat(process.pid)?.starttime ?? 0) * TICK_MS + performance.now()
