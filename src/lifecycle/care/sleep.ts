import { type Agent, SkeinError } from '../../model/index.js'
import { type AgentRun, type LiveRun, liveRun } from '../agent-run.js'
import { type Parts, runnerOf } from '../parts.js'
import { planRecovery } from '../recover/recovery-plan.js'
import { type Stopped, stop } from '../run/stop.js'
import { activityOf } from '../status/evidence.js'
import { type Observed, observe } from '../status/observe.js'
import { readScreenOf } from '../status/screen-of.js'
import { notRunning } from '../talk/send.js'
import { lateProcesses } from './tool-work.js'

/** Its program was ended to free its memory; a prompt or an attach brings it back with its conversation. */
export const isAsleep = (run: AgentRun | undefined): boolean => run?.run?.is_asleep === true && !liveRun(run)

/**
 * Ends the program of an agent that is idle, and keeps its conversation. Refused (`SkeinError`) for whatever would be lost: a turn, a
 * question, unsent text, work in the background, a prompt that waits, or a conversation that its tool cannot resume.
 */
export async function putToSleep(parts: Parts, agent: Agent, because: string): Promise<Stopped> {
  const [seen] = await observe(parts, new Set([agent.id]))
  const live = liveRun(seen?.run)
  if (isAsleep(seen?.run)) return { wasRunning: false, how: 'it is asleep already', left: [] }
  if (!seen?.run || !live) throw notRunning(agent)
  const obstacle = busyWith(seen, live) ?? (await unsent(parts, seen.run, live))
  if (obstacle) throw cannotSleep(agent, obstacle)
  const plan = await planRecovery(parts, agent, seen.run)
  if (plan.isNew) throw cannotSleep(agent, `its conversation would be lost: ${plan.because}`)
  return stop(parts, agent, { because, isAsleep: true })
}

function busyWith({ run, verdict, pane }: Observed, live: LiveRun): string | undefined {
  const status = verdict?.status
  const activity = status && activityOf(status)
  if (activity === 'blocked') return `it waits for an answer (${status?.waiting_for})`
  if (activity === 'failed') return `its last turn failed (${status?.reason ?? 'the reason is unknown'})`
  if (activity !== 'quiet') return `it is ${status?.status ?? 'unknown'}`
  if (run?.pending_prompt) return 'a prompt is waiting to be sent to it'
  if (run?.handoff || run?.launching) return 'it is handing off or starting'
  if ((run?.background?.count ?? 0) > 0) return 'it has work in the background'
  if (pane?.isSeen) return 'a terminal shows it'
  const left = lateProcesses(live)
  return left.length === 0 ? undefined : `it has processes in the background: ${left.join(', ')}`
}

/** What a person has typed and not sent, or a dialog that they have opened. */
async function unsent(parts: Parts, { recipe }: AgentRun, live: LiveRun): Promise<string | undefined> {
  const reading = await readScreenOf(runnerOf(parts, recipe.tool), await parts.terminals.of(live.socket), live)
  if (reading.dialog || activityOf(reading) === 'blocked') return 'a dialog is open'
  return reading.draft === undefined ? undefined : 'its input line contains unsent text'
}

const cannotSleep = ({ address }: Agent, obstacle: string): SkeinError =>
  new SkeinError(
    'agent-not-ready',
    `${address} was not put to sleep: ${obstacle}`,
    `See: skein why ${address} . To end it all the same: skein stop ${address}`,
  )

/** Starts an agent that is asleep as it was, in its conversation; undefined when it is awake already. */
export async function wake(parts: Parts, agent: Agent): Promise<string | undefined> {
  const run = await parts.runs.read(agent.id)
  if (!run || !isAsleep(run)) return undefined
  const { start } = await import('../run/start.js')
  try {
    const plan = await planRecovery(parts, agent, run)
    const { session } = await start(parts, agent, { asBefore: true, fresh: plan.isNew })
    return `${plan.outcome}${session === undefined ? '' : ` in ${session}`}`
  } catch (error) {
    // Another prompt has woken it meanwhile: its conversation is open then.
    if (error instanceof SkeinError && !isAsleep(await parts.runs.read(agent.id))) return undefined
    throw error
  }
}
