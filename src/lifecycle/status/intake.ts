import { whereaboutsOf } from '../../disk/index.js'
import { keptWords, type NewEvent } from '../../home/index.js'
import type { SpooledMessage } from '../../journal/index.js'
import {
  type Agent,
  type AgentId,
  type Evidence,
  type Instant,
  instantOf,
  msOf,
  type SessionId,
  shapes,
} from '../../model/index.js'
import { type AgentReport, type AskedPermission, OUTSIDE } from '../../tools/index.js'
import { type AgentRun, type LiveRun, liveRun } from '../agent-run.js'
import type { Parts } from '../parts.js'
import { publishIdentity } from '../run/identity-variables.js'
import { recordBeginning, recordHandoff, recordSuccession } from '../run/recorded-session.js'
import { openRequests, pendingOf, stillAsks } from '../talk/pending-request.js'
import { mergeTold } from './evidence.js'
import { type Claim, type Claimed, type IdentityVerdict, judgeIdentity, withRefused } from './identity.js'
import { endGoneOutside, takeOutside } from './outside.js'
import { isWithinTree } from './process-family.js'

export interface IntakeReport {
  /** Agents that something was reported about. */
  agents: Set<AgentId>
  taken: number
  /** Messages that could not be read; they are in the spool's `bad/`. */
  bad: number
  /** Messages of an unknown agent or of an unknown kind. */
  unknown: number
}

/** Reads what programs have reported since the last time: their status, what they ask, which conversation they are in. */
export async function takeIn(parts: Parts, agents: ReadonlyMap<AgentId, Agent>): Promise<IntakeReport> {
  const report: IntakeReport = { agents: new Set(), taken: 0, bad: 0, unknown: 0 }
  const times = new MessageTimes(parts.context.clock.now())
  const { taken, bad } = await parts.spool.takeAll(async (messages) => {
    const told = new Map<Agent, SpooledMessage[]>()
    await takeOutside(parts, messages)
    for (const message of messages) {
      const agent = agents.get(message.agent as AgentId)
      const timed = { ...message, at: times.after(message.at) }
      const before = agent && told.get(agent)
      if (before) before.push(timed)
      else if (agent) told.set(agent, [timed])
      else if (message.agent !== OUTSIDE) report.unknown += 1
    }
    for (const [agent, own] of told) {
      const understood = await takeMessages(parts, agent, own, agents)
      if (understood > 0) report.agents.add(agent.id)
      report.unknown += own.length - understood
    }
  })
  await endGoneOutside(parts)
  return { ...report, taken, bad }
}

/**
 * When each message counts as told: none in the future, which a clock that was set back would make of it, and each after the
 * one before it, because what was told in the same millisecond has an order all the same.
 */
class MessageTimes {
  #lastMs = 0

  constructor(private readonly nowMs: number) {}

  after(told: Instant): Instant {
    this.#lastMs = Math.max(Math.min(msOf(told), this.nowMs), this.#lastMs + 1)
    return instantOf(this.#lastMs)
  }
}

/** A message that was understood. */
interface Understood {
  message: SpooledMessage
  telling: AgentReport
  claim: Claim | undefined
  /** Who else has the conversation that is claimed. */
  other: Claimed | undefined
}

/** Everything that one agent reported, in one change of its file. Returns how many messages were understood. */
async function takeMessages(
  parts: Parts,
  agent: Agent,
  messages: readonly SpooledMessage[],
  agents: ReadonlyMap<AgentId, Agent>,
): Promise<number> {
  // One file that cannot be read must not hold up the reports of the others.
  if ((await parts.runs.found(agent.id)).problem !== undefined) return 0
  const understood = await understand(parts, agent, messages, agents)
  if (understood.length === 0) return 0
  await parts.runs.update(agent, async (current) => {
    if (!current || !liveRun(current)) return undefined
    let next = current
    const events: Omit<NewEvent, 'agent'>[] = []
    for (const one of understood) {
      const made = await withMessage(parts, agent, next, one)
      next = made.next
      events.push(...made.events)
    }
    return { next, events, isDurable: events.length > 0, result: undefined }
  })
  return understood.length
}

async function understand(
  parts: Parts,
  agent: Agent,
  messages: readonly SpooledMessage[],
  agents: ReadonlyMap<AgentId, Agent>,
): Promise<Understood[]> {
  const holders = new Map<SessionId, Claimed | undefined>()
  const understood: Understood[] = []
  for (const message of messages) {
    const told = parts.runners.find(({ name }) => name === message.tool)?.readMessage(message)
    if (!told) continue
    const telling = await storable(told, parts)
    const claim = claimOf(message, telling)
    if (claim && !holders.has(claim.session)) {
      holders.set(claim.session, await holderOf(parts, agent.id, claim.session, agents))
    }
    understood.push({ message, telling, claim, other: claim && holders.get(claim.session) })
  }
  return understood
}

async function withMessage(
  parts: Parts,
  agent: Agent,
  current: AgentRun,
  { message, telling, claim, other }: Understood,
): Promise<{ next: AgentRun; events: Omit<NewEvent, 'agent'>[] }> {
  const run = liveRun(current)
  if (!run) return { next: current, events: [] }
  const judged = claim && judge(current, run, claim, other)
  const isForeign = message.run !== run.id || (judged?.kind === 'refuse' && judged.isForeign)
  const bound =
    claim && judged ? await settleIdentity(parts, agent, current, run, claim, judged) : { next: current, events: [] }
  return { next: isForeign ? bound.next : withTelling(bound.next, telling, message), events: bound.events }
}

/** What is asked for may be a command with a password in it. Its words are kept in the agent's file; what its dialog shows is not. */
async function storable(telling: AgentReport, { home }: Parts): Promise<AgentReport> {
  const { evidence, request } = telling
  const words = {
    ...(evidence?.reason === undefined ? {} : { reason: evidence.reason }),
    ...(request?.what === undefined ? {} : { what: request.what }),
    ...(request ? { tool: request.tool } : {}),
    ...Object.fromEntries((request?.options ?? []).map(({ label }, at) => [`option ${at}`, label])),
  }
  const kept = await keptWords(words, home)
  return {
    ...telling,
    ...(evidence ? { evidence: { ...evidence, ...wordOf('reason', kept.reason) } } : {}),
    ...(request ? { request: keptRequest(request, kept) } : {}),
  }
}

/** What may not be kept is left out, not kept as it was. */
function keptRequest(request: AskedPermission, kept: Readonly<Record<string, string>>): AskedPermission {
  const options = request.options?.map(({ meaning }, at) => ({ label: kept[`option ${at}`] ?? '…', meaning }))
  return { ...request, ...wordOf('what', kept.what), tool: kept.tool ?? 'a tool', ...(options ? { options } : {}) }
}

const wordOf = <Name extends string>(name: Name, word: string | undefined): { [Key in Name]: string } =>
  ({ [name]: word }) as { [Key in Name]: string }

function claimOf(message: SpooledMessage, { identity }: AgentReport): Claim | undefined {
  if (!identity) return undefined
  const { run, pid, at } = message
  return { ...identity, at, run, ...(pid === undefined ? {} : { pid }) }
}

export function judge(current: AgentRun, run: LiveRun, claim: Claim, other: Claimed | undefined): IdentityVerdict {
  const pid = whereaboutsOf(run.place) === 'here' ? claim.pid : undefined
  const isInTree = pid === undefined ? undefined : isWithinTree(pid, run.pid)
  return judgeIdentity(run, current.binding, claim, { isInTree, other })
}

/** The agent that has this conversation, if it is another one. */
export async function holderOf(
  parts: Parts,
  self: AgentId,
  session: SessionId,
  agents: ReadonlyMap<AgentId, Agent>,
): Promise<Claimed | undefined> {
  const own = await parts.runs.read(self)
  if (own?.binding?.session === session) return undefined // nothing changes, so nobody else has to be asked
  for (const run of await parts.runs.all()) {
    const agent = agents.get(run.agent)
    if (run.agent === self || run.binding?.session !== session || !agent) continue
    return { agent: run.agent, address: agent.address, since: run.binding.since }
  }
  return undefined
}

/** Stores what was judged, and tells the session records. The events carry the evidence. */
export async function settleIdentity(
  parts: Parts,
  agent: Agent,
  current: AgentRun,
  run: LiveRun,
  claim: Claim,
  judged: IdentityVerdict,
): Promise<{ next: AgentRun; events: Omit<NewEvent, 'agent'>[] }> {
  const { session, how, pid, at } = claim
  const evidence = { how, at, run: claim.run, ...(pid === undefined ? {} : { pid }), pane_pid: run.pid }
  if (judged.kind === 'refuse') {
    // Told once; and a late word about the conversation it is in anyway is no claim.
    if (current.refused?.includes(session) || session === current.binding?.session) return { next: current, events: [] }
    const payload = { agent_id: agent.id, session, because: judged.because, evidence }
    return {
      next: { ...current, refused: withRefused(current, session) },
      events: [{ type: 'identity_refuse', payload }],
    }
  }
  const { binding, programPid } = judged
  const before = judged.kind === 'rebind' && binding.how !== 'compact' ? withoutTurns(current) : current
  const next = { ...before, binding, run: programPid === undefined ? run : { ...run, program_pid: programPid } }
  if (judged.kind === 'same') {
    if (current.binding?.is_confirmed) return { next, events: [] }
    return { next, events: [{ type: 'identity_bind', session, payload: bindingPayload(agent, next, evidence) }] }
  }
  const from = judged.kind === 'rebind' ? judged.from : undefined
  const { handoff } = current
  if (from === undefined && handoff?.kind === 'fresh' && session !== handoff.from)
    await recordHandoff(parts, agent, next, handoff.from, session, { subject: handoff.subject })
  else if (from === undefined) await recordBeginning(parts, agent, next, session)
  else await recordSuccession(parts, agent, next, from, binding)
  await publishIdentity(parts, agent, next)
  const payload = { ...bindingPayload(agent, next, evidence), ...(from === undefined ? {} : { from }) }
  return { next, events: [{ type: `identity_${judged.kind}`, session, payload }] }
}

/** What was said in another conversation is neither finished nor failed in this one. */
function withoutTurns(run: AgentRun): AgentRun {
  const { told: _told, busy_at: _busy, turn_end: _end, quiet_at: _quiet, finished_at: _finished, ...kept } = run
  return kept
}

function bindingPayload(agent: Agent, { binding }: AgentRun, evidence: object): Record<string, unknown> {
  const { session, how, log } = binding ?? {}
  return { agent_id: agent.id, session, how, ...(log ? { log } : {}), evidence }
}

/** How the program asks before it acts, in its own word: hooks of several programs name it the same. */
function permissionModeIn(payload: unknown): string | undefined {
  const mode = shapes.isObject(payload) ? payload.permission_mode : undefined
  return typeof mode === 'string' && /^[\w-]{1,40}$/.test(mode) ? mode : undefined
}

function withTelling(run: AgentRun, telling: AgentReport, { at, payload }: SpooledMessage): AgentRun {
  const asked = telling.request && pendingOf(telling.request, at)
  const requests = openRequests(run.requests ?? [], telling, asked)
  const said = stillAsks(telling.evidence, requests)
  const evidence: Evidence[] = said ? [{ ...said, at }] : []
  const next: AgentRun = { ...run, told: mergeTold(run.told ?? [], evidence) }
  if (at >= (run.heard?.at ?? '')) next.heard = { at, by: telling.evidence?.rule ?? 'hook' }
  if (requests.length > 0) next.requests = requests
  else delete next.requests
  if (telling.prompt !== undefined) next.prompted_at = at > (run.prompted_at ?? '') ? at : (run.prompted_at ?? at)
  const mode = permissionModeIn(payload)
  if (mode !== undefined) next.permission_mode = mode
  if (telling.leaves !== undefined) next.leaving = { how: telling.leaves, at }
  if (telling.background !== undefined && at >= (run.background?.at ?? '')) {
    next.background = { count: telling.background, at }
  }
  return next
}
