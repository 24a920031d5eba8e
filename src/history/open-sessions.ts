import { type RunningProcess, realPath, runningProcesses } from '../disk/index.js'
import type { FoundSession } from '../ingest/index.js'
import type { SessionId } from '../model/index.js'
import { type Environment, LOG_TOOLS } from '../tools/index.js'

/** A log that was written to so lately is still being written, whoever writes it: in a container, over the network. */
const GROWING_MS = 120_000
/** The same where the tool registers what is open and does not name the session: it may run where its process is not seen. */
const UNREGISTERED_GROWING_MS = 30_000

/**
 * Tells which of the sessions that were found in logs are still open. The evidence: its log has just grown; its tool registers the
 * session and the process lives; or, where a tool registers nothing, a process of the tool works in the session's directory,
 * began before the log's last record, and no later session there explains it.
 */
export class OpenSessions {
  readonly #registered = new Map<string, ReadonlySet<SessionId> | undefined>()
  #processes: readonly RunningProcess[] | undefined

  constructor(
    private readonly environment: Environment,
    private readonly nowMs: number,
    private readonly processes: () => readonly RunningProcess[] = runningProcesses,
  ) {}

  /** `others` are asked about as well: of several sessions in one directory a process has one. */
  among(found: readonly FoundSession[], others: readonly FoundSession[] = []): Set<SessionId> {
    const open = new Set<SessionId>()
    /** By tool and directory, those that only a process can speak for. */
    const unproven = new Map<string, FoundSession[]>()
    for (const one of [...found, ...others]) {
      if (this.#isGrowing(one)) open.add(one.id)
      const registered = this.#registeredBy(one.tool)
      if (registered) {
        if (registered.has(one.id)) open.add(one.id)
      } else if (one.news.cwd !== undefined && one.last_at !== undefined) {
        const place = `${one.tool}\0${one.news.cwd}`
        unproven.set(place, [...(unproven.get(place) ?? []), one])
      }
    }
    for (const sessions of unproven.values()) {
      if (sessions.every(({ id }) => open.has(id))) continue
      for (const { id } of this.#held(sessions)) open.add(id)
    }
    return open
  }

  /** Then no process has to be looked for. */
  areGrowing(found: readonly FoundSession[]): boolean {
    return found.every((one) => this.#isGrowing(one))
  }

  #isGrowing({ tool, last_at }: FoundSession): boolean {
    const windowMs = this.#registeredBy(tool) ? UNREGISTERED_GROWING_MS : GROWING_MS
    return last_at !== undefined && this.nowMs - Date.parse(last_at) <= windowMs
  }

  #registeredBy(name: string): ReadonlySet<SessionId> | undefined {
    if (!this.#registered.has(name)) {
      const tool = LOG_TOOLS.find((one) => one.name === name)
      this.#registered.set(name, tool?.openSessions?.(this.environment))
    }
    return this.#registered.get(name)
  }

  /** Of the sessions of one tool in one directory: each process has one, and the newest are the likeliest. */
  #held(sessions: readonly FoundSession[]): FoundSession[] {
    const [first] = sessions
    const directory = realPath(first?.news.cwd ?? '')
    const here = this.#all().filter(({ names, cwd }) => cwd === directory && names.includes(first?.tool ?? ''))
    const newest = [...sessions].sort((a, b) => ((a.last_at ?? '') > (b.last_at ?? '') ? -1 : 1))
    const free = new Set(here)
    return newest.filter(({ last_at }) => {
      const holder = [...free].find(({ startedAtMs }) => startedAtMs <= Date.parse(last_at ?? ''))
      return holder !== undefined && free.delete(holder)
    })
  }

  #all(): readonly RunningProcess[] {
    this.#processes ??= this.processes()
    return this.#processes
  }
}
