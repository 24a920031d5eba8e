import { thisPlace } from '../../disk/index.js'
import { type Agent, type AgentId, SkeinError, type Trouble } from '../../model/index.js'
import { type AgentRun, liveRun } from '../agent-run.js'
import { type Parts, pause } from '../parts.js'
import { elsewhere, lifeOfRun } from '../run/run-life.js'
import { start } from '../run/start.js'
import { sweepMediums } from '../seance/medium.js'
import { UNREACHABLE } from '../status/evidence.js'
import { type Observed, observe } from '../status/observe.js'
import { hasNoTerminal } from '../status/stranded.js'
import { endLost } from './end-lost.js'
import { type Fall, fallOf } from './fall.js'
import { InOrder } from './in-order.js'
import { Places } from './places.js'
import { Rally } from './rally.js'
import { planRecovery, type RecoveryPlan, refuseNoProgram, restoreLog } from './recovery-plan.js'

/** Without spacing, so many are being started at a time, and so many more may be watched until they are known to live. */
const AT_ONCE = 64
const MOST_UNSETTLED = 64
/** While others are still being started, so long nobody looks at those that run: looking takes time from the starts. */
const UNSEEN_MS = 600
/** From this many on, one lasting connection to tmux is quicker than a process for each question. */
const MANY = 3
/** So many agents in a row may come back and fail to log in, until the rest is left alone. */
const MOST_LOGIN_FAILURES = 2

export interface Recover {
  /** Only these, whether they are down or not; else every agent that is down although nobody asked for it. */
  only?: ReadonlySet<AgentId>
  /** Also those that the watchdog has parked. */
  all?: boolean
  /** In place of those that are down unasked: those that `skein down` has stopped. */
  isUp?: boolean
  /** Of those that are down, these. */
  isWanted?: (agent: Agent) => boolean
  dryRun?: boolean
  /** Between two starts, so that no burst of programs logs in at once. */
  spacingMs: number
  signal?: AbortSignal
}

/** What became of one agent. `up`: it runs, so nothing was done. `stopped`: its user stopped it, or it left by itself. */
export interface Recovered {
  agent: Agent
  outcome: 'resumed' | 'fresh' | 'refused' | 'up' | 'stopped'
  session_id?: string
  /** Why it was down. */
  fell?: Fall
  /** How it came back, or why it did not. */
  reason: string
  error?: SkeinError
  /** As it was last seen, where it was started. */
  observed?: Observed
}

/** Brings agents back, each in its own conversation. What fails for one is its own result; `tell` hears of each as it is done. */
export async function recover(
  parts: Parts,
  options: Recover,
  tell: (one: Recovered) => void = () => {},
): Promise<Recovered[]> {
  const { only, dryRun = false, spacingMs } = options
  // One at a time: two would halve the spacing. An agent is never doubled, whoever starts it.
  using _alone = dryRun ? undefined : await parts.runs.holdRecovery()
  if (!dryRun) await sweepMediums(parts)
  const observed = await observe(parts, only)
  const { isWanted = () => true } = options
  const isToTell = (one: Observed): boolean =>
    downOf(one, options) !== undefined || (!options.isUp && isOutOfSight(one))
  const wanted = observed.filter((one) => only || (isWanted(one.agent) && isToTell(one)))
  const order = wanted.sort((a, b) => (a.agent.address < b.agent.address ? -1 : 1))
  const done: Recovered[] = []
  const inOrder = new InOrder<Recovered>((one) => {
    done.push(one)
    tell(one)
  })
  const starts = new Starts(options)
  const isTogether = spacingMs === 0 && !dryRun && !parts.isStaying && order.length >= MANY
  await using connected = isTogether ? parts.terminals.connected() : undefined
  const own = connected ? { ...parts, terminals: connected } : parts
  const [unsettled, beginning] = [new Places(spacingMs === 0 ? MOST_UNSETTLED : 1), new Places(AT_ONCE)]
  const rally = new Rally(isTogether ? Math.min(order.length, MOST_UNSETTLED) : 0)
  await Promise.all(
    order.map(async (one, at) => {
      const settled = await unsettled.take()
      const begun = await beginning.take()
      const arrived = rally.arrival()
      const onBegun = (): Promise<void> => {
        begun()
        arrived()
        return rally.within(UNSEEN_MS)
      }
      try {
        const isOver = options.signal?.aborted === true
        inOrder.put(at, isOver ? undefined : await recoverOne(own, one, { ...options, onBegun }, starts))
      } finally {
        begun()
        arrived()
        settled()
      }
    }),
  )
  return done
}

/** When the next program may be started, and whether one may be at all. */
class Starts {
  #failedLogins = 0
  #isFirst = true

  constructor(private readonly options: Pick<Recover, 'spacingMs' | 'signal'>) {}

  get areOver(): boolean {
    return this.#failedLogins >= MOST_LOGIN_FAILURES
  }

  /** False when nobody waits any more. */
  async turn(): Promise<boolean> {
    const { spacingMs, signal } = this.options
    if (!this.#isFirst && spacingMs > 0) await pause(spacingMs, signal)
    this.#isFirst = false
    return signal?.aborted !== true
  }

  saw(trouble: Trouble | undefined): void {
    this.#failedLogins = trouble === 'auth' ? this.#failedLogins + 1 : 0
  }
}

/** Undefined when it was interrupted before it began. */
async function recoverOne(
  parts: Parts,
  one: Observed,
  options: Recover & { onBegun: () => Promise<void> },
  starts: Starts,
): Promise<Recovered | undefined> {
  const { dryRun = false, only, all = false } = options
  const isNamed = only !== undefined || all
  const { agent, run } = one
  const fell = downOf(one, options)
  if (!fell || !run) return untouched(one)
  if (fell.parked && !isNamed) return { ...refusal(agent, parkedError(agent, fell.parked)), fell }
  const plan = await planFor(parts, agent, run, { fell, dryRun })
  if ('error' in plan) return plan
  if (dryRun) return told(agent, fell, asPlanned(plan), 'nothing was started')
  if (starts.areOver) return { ...refusal(agent, tooManyFailures(agent)), fell }
  if (!(await starts.turn())) return undefined
  const { recovered, trouble } = await bringBack(parts, agent, run, { plan, fell, onBegun: options.onBegun })
  starts.saw(trouble)
  return recovered
}

/** Why an agent is down; also one whose process has outlived its terminal, where nobody can reach it. */
function downOf({ run, verdict }: Observed, { isUp }: Pick<Recover, 'isUp'>): Fall | undefined {
  if (isUp) return run?.run?.is_down && !liveRun(run) ? { how: 'stopped', reason: 'skein down' } : undefined
  const fell = fallOf(run)
  if (fell || !run) return fell
  const live = liveRun(run)
  if (!live || !verdict || !hasNoTerminal(verdict.status)) return undefined
  // It may have ended since it was observed.
  return lifeOfRun(live) === 'unknown'
    ? undefined
    : { how: 'lost', reason: verdict.status.reason ?? 'it has no terminal' }
}

/**
 * In another container or pid namespace of this machine, such as this container before it was restarted, and its terminal is not in reach: it
 * may run or be gone. Of another machine nobody expects an answer here.
 */
function isOutOfSight({ run, verdict }: Observed): boolean {
  const live = liveRun(run)
  if (!live?.place || verdict?.decided?.rule !== UNREACHABLE) return false
  return live.place.boot === thisPlace().boot && lifeOfRun(live) === 'unknown'
}

function untouched(one: Observed): Recovered {
  const { agent, run, verdict } = one
  const session = run?.binding && { session_id: run.binding.session }
  const live = liveRun(run)
  if (live && verdict?.decided?.rule === UNREACHABLE) return { ...refusal(agent, elsewhere(agent, live)), ...session }
  if (live) return { agent, outcome: 'up', ...session, reason: 'it runs' }
  const stopped = { agent, outcome: 'stopped' as const, ...session }
  if (run?.archived_at) return { ...stopped, reason: 'it is archived' }
  const reason = run?.run?.end?.reason ?? verdict?.status.reason ?? 'it was not started'
  const { is_asleep, is_down } = run?.run ?? {}
  const command = is_asleep ? `skein wake ${agent.address}` : is_down ? 'skein up' : `skein start ${agent.address}`
  return { ...stopped, reason: `${reason}; ${command} starts it` }
}

const refusal = (agent: Agent, error: SkeinError): Recovered & { error: SkeinError } => ({
  agent,
  outcome: 'refused',
  reason: error.message,
  error,
})

async function planFor(
  parts: Parts,
  agent: Agent,
  run: AgentRun,
  { fell, dryRun }: { fell: Fall; dryRun: boolean },
): Promise<RecoveryPlan | (Recovered & { error: SkeinError })> {
  try {
    const plan = await planRecovery(parts, agent, run)
    // Else its start looks for the program, before it changes anything. What is left of a lost run is ended before that.
    if (dryRun || liveRun(run)) await refuseNoProgram(parts, agent, run, plan)
    return plan
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error
    return { ...refusal(agent, error), fell, ...(run.binding ? { session_id: run.binding.session } : {}) }
  }
}

async function bringBack(
  parts: Parts,
  agent: Agent,
  run: AgentRun,
  { plan, fell, onBegun }: { plan: RecoveryPlan; fell: Fall; onBegun: () => Promise<void> },
): Promise<{ recovered: Recovered; trouble?: Trouble | undefined }> {
  const live = liveRun(run)
  try {
    if (live) {
      await endLost(parts, agent, live)
      // While its own process had the conversation open, another one could not be seen.
      await planRecovery(parts, agent, (await parts.runs.read(agent.id)) ?? run)
    }
    await restoreLog(parts, agent, plan)
    const { observed, session } = await start(parts, agent, { asBefore: true, fresh: plan.isNew, onBegun })
    const pid = observed.run?.run?.pid
    const { trouble } = observed.verdict?.status ?? {}
    const now = session === undefined ? plan : { ...plan, session }
    return { recovered: { ...told(agent, fell, now, `process ${pid} runs`), observed }, trouble }
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error
    const session = run.binding && { session_id: run.binding.session }
    if (error.code === 'agent-running')
      return { recovered: { agent, outcome: 'up', ...session, reason: 'another process has started it meanwhile' } }
    return { recovered: { ...refusal(agent, error), fell, ...session } }
  }
}

/** The same plan for who only asks: its log is not written. */
const asPlanned = (plan: RecoveryPlan): RecoveryPlan =>
  plan.isRestored ? { ...plan, because: 'its log was deleted and would be written again from the archive' } : plan

function told(agent: Agent, fell: Fall, { outcome, session, because }: RecoveryPlan, how: string): Recovered {
  return {
    agent,
    outcome,
    ...(session ? { session_id: session } : {}),
    fell,
    reason: because === undefined ? how : `${because}; ${how}`,
  }
}

const tooManyFailures = ({ address }: Agent): SkeinError =>
  new SkeinError(
    'agent-not-ready',
    `${address} was not started: the ${MOST_LOGIN_FAILURES} agents before it could not log in`,
    'Log in with that tool by hand, then: skein recover',
  )

const parkedError = ({ address }: Agent, { reason }: NonNullable<Fall['parked']>): SkeinError =>
  new SkeinError(
    'agent-not-ready',
    `${address} is parked: ${reason}`,
    `Bring it back all the same: skein recover ${address}`,
  )
