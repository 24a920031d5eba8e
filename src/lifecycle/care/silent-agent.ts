import { type Agent, formatDuration, type Instant, msOf, SkeinError } from '../../model/index.js'
import { type AgentRun, type LiveRun, liveRun, type Silence } from '../agent-run.js'
import { nowOf, type Parts } from '../parts.js'
import { askedOf, askFor } from '../run/asked-end.js'
import { endRun } from '../run/end-run.js'
import { parkedAround } from '../sling/admission.js'
import { activityOf } from '../status/evidence.js'
import { observe } from '../status/observe.js'
import { send } from '../talk/send.js'
import { signOf } from './heartbeat.js'
import { holdOf, isHolding } from './hold.js'
import { decideSilence, lastOf, type SilenceRule, type SilenceSigns, type SilenceStep } from './silence.js'
import type { ToolWork } from './tool-work.js'

/** How long its processes may take to end by themselves. */
const TREE_GRACE_MS = 3_000

/** What was done about an agent, for the daemon's log. */
export interface SilenceDone {
  step: Exclude<SilenceStep, 'none'>
  what: string
}

/**
 * Looks whether an agent that runs gives signs of life, and does the next step about one that does not. Undefined when there is nothing
 * to do. `workOf` is asked only about an agent that is silent, or that was.
 */
export async function careForSilent(
  parts: Parts,
  agent: Agent,
  rule: SilenceRule,
  seen: { tools: ToolWork; workOf: () => Promise<string | undefined>; isSeen: boolean },
): Promise<SilenceDone | undefined> {
  const run = await parts.runs.read(agent.id)
  const live = liveRun(run)
  if (
    !run ||
    !live ||
    askedOf(live, parts.context.clock.now()) ||
    run.handoff ||
    (rule.afterMs === undefined && !run.silence)
  )
    return undefined
  const signs = signsOf(parts, run, live, seen)
  const isSilent = msOf(signs.now) - msOf(lastOf(signs)) >= (rule.afterMs ?? 0)
  if (!isSilent && !run.silence) return undefined
  const work = await seen.workOf()
  const step = decideSilence(run.silence, { ...signs, work }, rule)
  switch (step) {
    case 'none':
      return undefined
    case 'nudge':
      return work === undefined ? undefined : nudge(parts, agent, live, work, lastOf(signs))
    case 'show':
      return show(parts, agent, live)
    case 'restart':
      // In a parked group it would not come back.
      return parkedAround(await parts.home.roster.groups(), agent.address)
        ? undefined
        : restart(parts, agent, run, live)
    case 'calm':
    case 'forget':
      await change(parts, agent, live, ({ stuck_at: _stuck, ...silence }) => (step === 'calm' ? silence : undefined))
      return { step, what: step === 'calm' ? 'gives signs of life again' : 'is no longer watched for silence' }
  }
}

function signsOf(
  parts: Parts,
  run: AgentRun,
  live: LiveRun,
  { tools, isSeen }: { tools: ToolWork; isSeen: boolean },
): SilenceSigns {
  const activity = activityOf(run.status)
  const begun = run.busy_at !== undefined && run.busy_at > live.started_at ? run.busy_at : live.started_at
  const tool = activity === 'running' ? tools.look(live, begun, parts.context.clock.now()) : undefined
  // What the last turn ended with, also when its user has seen that.
  const trouble = activity === 'running' ? run.status.trouble : (run.turn_end?.trouble ?? run.status.trouble)
  const isLimitOver = isHolding(trouble) && holdOf(run, parts.context.clock.now()) === undefined
  return {
    now: nowOf(parts),
    run: live,
    work: undefined,
    activity,
    trouble: isLimitOver ? undefined : trouble,
    sign: signOf(parts, run)?.at,
    tool,
    prompted_at: run.prompted_at,
    isSeen,
  }
}

/** Once, through the way that types into no dialog and no draft. What cannot be typed now is tried again at the next look. */
async function nudge(
  parts: Parts,
  agent: Agent,
  live: LiveRun,
  work: string,
  since: Instant,
): Promise<SilenceDone | undefined> {
  const silent = formatDuration(parts.context.clock.now() - msOf(since))
  const text = `Work ${work} is on your hook, and nothing has come from you for ${silent}. Go on with it: skein work show ${work} . If it is finished, run skein done . If you cannot go on, say what you need.`
  const sent = await send(parts, agent, text).catch((error: unknown) => {
    if (error instanceof SkeinError) return undefined
    throw error
  })
  if (!sent) return undefined
  const { delivery, at } = sent
  await parts.runs.update(agent, (current) => {
    if (!current || liveRun(current)?.id !== live.id) return undefined
    const silence: Silence = { run: live.id, work, since, nudged_at: at }
    const payload = { agent_id: agent.id, target: agent.address, work, reason: `no heartbeat for ${silent}`, delivery }
    return { next: { ...current, silence }, events: [{ type: 'nudge', payload }], result: undefined }
  })
  return { step: 'nudge', what: `was nudged: no heartbeat for ${silent} (${delivery})` }
}

async function show(parts: Parts, agent: Agent, live: LiveRun): Promise<SilenceDone> {
  const at = nowOf(parts)
  await change(parts, agent, live, (silence) => ({ ...silence, stuck_at: at }), true)
  await observe(parts, new Set([agent.id]))
  return { step: 'show', what: 'is stuck' }
}

/** Ended whole, as a crash: what follows is the watchdog's business, with its backoff and its limit. */
async function restart(parts: Parts, agent: Agent, run: AgentRun, live: LiveRun): Promise<SilenceDone | undefined> {
  const reason = `stuck: no heartbeat since ${run.silence?.since}, and no answer to a nudge`
  const asked = await parts.runs.update(agent, (current) => {
    const now = liveRun(current)
    if (!current || now?.id !== live.id || askedOf(now, parts.context.clock.now())) return undefined
    const mark = askFor({ how: 'crashed', reason }, nowOf(parts))
    return { next: { ...current, run: { ...now, asked: mark } }, result: true }
  })
  if (!asked) return undefined
  await endRun(parts, agent, live, TREE_GRACE_MS)
  await observe(parts, new Set([agent.id]))
  return { step: 'restart', what: reason }
}

/** Undefined takes it away. */
async function change(
  parts: Parts,
  agent: Agent,
  live: LiveRun,
  to: (silence: Silence) => Silence | undefined,
  isShown = false,
): Promise<void> {
  await parts.runs.update(agent, (current) => {
    if (!current?.silence || liveRun(current)?.id !== live.id) return undefined
    const { silence: before, ...rest } = current
    const silence = to(before)
    const { since, nudged_at, work } = before
    const payload = { agent_id: agent.id, work, since, nudged_at, reason: `no heartbeat since ${since}` }
    return {
      next: silence ? { ...rest, silence } : rest,
      events: isShown ? [{ type: 'agent_stuck', payload }] : [],
      result: undefined,
    }
  })
}
