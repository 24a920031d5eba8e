import { whereaboutsOf } from '../../disk/index.js'
import { type Agent, type AgentStatus, type Ask, SkeinError } from '../../model/index.js'
import { isListenedOnBy, processTree } from '../../terminal/index.js'
import type { ToolRunner } from '../../tools/index.js'
import { type AgentRun, type LiveRun, liveRun } from '../agent-run.js'
import { nowOf, type Parts, runnerOf } from '../parts.js'
import { secretOf } from '../run/launch.js'
import { markOf, ownerOf } from '../run/run-life.js'
import { activityOf, toldAnswered } from '../status/evidence.js'
import { observe } from '../status/observe.js'
import { answerByKeys } from './answer-by-keys.js'
import { asksOf, withoutRequest } from './asks.js'
import type { PendingRequest } from './pending-request.js'
import { notRunning } from './send.js'

export type Decision = 'allow' | 'allow-always' | 'deny'
export type AnswerWith = { decision: Decision } | { choose: string }

const PROTOCOL_MS = 10_000

/** An agent that asks, as it was just seen. */
export interface Asker {
  agent: Agent
  run: AgentRun
  live: LiveRun
  runner: ToolRunner
  status: AgentStatus
}

export interface Answered {
  by: 'protocol' | 'keys'
  label?: string
  how: string
}

/** What was answered: one ask, and the request behind it where the program told of one. */
export interface Settled {
  answered: Answered
  ask?: Ask
  request?: PendingRequest
}

/**
 * Answers what an agent asks: the request that the token names, or none. By the tool's own protocol where it has one; else in
 * its dialog, by moving to the option with the wanted meaning and pressing Enter once the screen shows that option as the
 * chosen one, in the dialog that asks for this very thing. Never by number, never by a bare Enter, and never an option that
 * stops the tool from asking.
 */
export async function answer(parts: Parts, agent: Agent, wanted: AnswerWith, token?: string): Promise<Answered> {
  using _typing = await parts.runs.hold(agent.id, 'keys')
  const asker = await askerOf(parts, agent, token)
  const at = nowOf(parts)
  const settling = (await byProtocol(parts, asker, wanted, token)) ?? (await answerByKeys(parts, asker, wanted, token))
  const { answered, ask, request } = settling
  await parts.runs.update(agent, (current) => {
    if (!current) return undefined
    const said = 'decision' in wanted ? { decision: wanted.decision } : { choose: wanted.choose }
    const named = ask ? { waiting_for: ask.kind, token: ask.token, ...shownOf(ask) } : {}
    const payload = { agent_id: agent.id, ...answered, ...said, ...named }
    const next = withoutAsked(current, request)
    const told = next.told && !next.requests ? { told: toldAnswered(next.told, at) } : {}
    return { next: { ...next, ...told }, events: [{ type: 'agent_answered', payload }], result: undefined }
  })
  return answered
}

const shownOf = ({ tool, what }: Ask) => ({ ...(tool ? { tool } : {}), ...(what === undefined ? {} : { what }) })

/** This one is answered; whatever else it asks is still asked. */
function withoutAsked(run: AgentRun, request: PendingRequest | undefined): AgentRun {
  const { requests, ...rest } = run
  const left = withoutRequest(requests ?? [], request)
  return left.length > 0 ? { ...rest, requests: left } : rest
}

async function askerOf(parts: Parts, agent: Agent, token: string | undefined): Promise<Asker> {
  const [seen] = await observe(parts, new Set([agent.id]))
  const live = liveRun(seen?.run)
  const status = seen?.verdict?.status
  if (!seen?.run || !live || !status) throw notRunning(agent)
  if (token !== undefined) refuseToken(agent, status, token)
  // What its screen shows may be a dialog that no other source knows.
  const mayAsk = ['unknown', 'starting'].includes(status.status) || activityOf(status) === 'blocked'
  if (mayAsk) return { agent, run: seen.run, live, runner: runnerOf(parts, seen.run.recipe.tool), status }
  const next = `See: skein why ${agent.address}`
  const state = status.waiting_for === 'finished' ? 'it has finished' : `it is ${status.status}`
  throw new SkeinError('nothing-asked', `${agent.address} is not asking anything: ${state}`, next)
}

function refuseToken(agent: Agent, status: AgentStatus, token: string): void {
  const asks = activityOf(status) === 'blocked' ? (status.asks ?? []) : []
  const named = asks.find((ask) => ask.token === token)
  if (!named) throw stale(agent, status)
  if (named.is_queued) throw queued(agent, asks[0])
}

async function byProtocol(
  parts: Parts,
  asker: Asker,
  wanted: AnswerWith,
  token: string | undefined,
): Promise<Settled | undefined> {
  const { agent, run, live, runner, status } = asker
  const tracked = (run.requests ?? []).filter(({ isTracked }) => isTracked)
  if (!runner.answer || tracked.length === 0 || !run.binding) return undefined
  const { asks } = asksOf({ agent: agent.id, run: live.id, now: nowOf(parts), status, requests: tracked })
  const at = token === undefined ? 0 : asks.findIndex((ask) => ask.token === token)
  const [ask, request] = [asks[at], tracked[at]]
  if (!ask || !request) throw stale(agent, status)
  if (token === undefined && asks.length > 1) throw several(agent, asks)
  const reply = replyTo(agent, request, wanted)
  if (reply === undefined) return undefined
  refuseForeignPort(agent, live)
  try {
    const { receipt } = await runner.answer({
      request,
      reply,
      launch: { port: live.port, secret: secretOf(parts, agent, live) },
      session: run.binding.session,
      signal: AbortSignal.timeout(PROTOCOL_MS),
    })
    return { answered: { by: 'protocol', how: receipt }, ask, request }
  } catch (error) {
    // The program no longer knows it, so it is no longer asked.
    if (error instanceof SkeinError && error.code === 'stale-answer') {
      await parts.runs.update(
        agent,
        (current) => current && { next: withoutAsked(current, request), result: undefined },
      )
    }
    throw error
  }
}

/** The port was free when it was chosen; whoever took it since must not get the secret of this run. */
function refuseForeignPort(agent: Agent, live: LiveRun): void {
  const pids = processTree(ownerOf(live), markOf(live)).map(({ pid }) => pid)
  const isHere = whereaboutsOf(live.place) === 'here'
  if (isHere && isListenedOnBy(live.port, pids) !== false) return
  const what = `No process of ${agent.address} listens on port ${live.port} of this machine, where its answer would go`
  throw new SkeinError('not-answered', what, `Answer it in its terminal: skein attach ${agent.address}`)
}

/** What the program is to be told; undefined for an option of a permission that is chosen on the screen. */
function replyTo(agent: Agent, request: PendingRequest, wanted: AnswerWith): AnswerWith | undefined {
  if ('decision' in wanted || request.kind === 'question') return wanted
  const decision = decisionCalled(agent, request, wanted.choose)
  return decision && { decision }
}

/** The decision that an option of this name stands for. Options that mean nothing to us are chosen on the screen. */
function decisionCalled(agent: Agent, { options = [] }: PendingRequest, label: string): Decision | undefined {
  const named = options.find((option) => option.label.toLowerCase() === label.trim().toLowerCase())
  const meaning = named?.meaning
  if (meaning === 'allow' || meaning === 'allow-always' || meaning === 'deny') return meaning
  if (named || options.every((option) => option.meaning === 'other')) return undefined
  const offered = options.map((option) => JSON.stringify(option.label)).join(', ')
  throw new SkeinError(
    'not-answered',
    `No option of ${agent.address} matches ${JSON.stringify(label)}`,
    `It offers ${offered}`,
  )
}

const stale = (agent: Agent, status: AgentStatus): SkeinError =>
  new SkeinError(
    'stale-answer',
    `This answer is for another question of ${agent.address} and was not given`,
    activityOf(status) === 'blocked'
      ? `Look at what it asks now: skein why ${agent.address}`
      : `It is ${status.status} now`,
  )

const queued = (agent: Agent, first: Ask | undefined): SkeinError =>
  new SkeinError(
    'not-answered',
    `Another question of ${agent.address} comes before this one: ${shortly(first)}`,
    `Answer that one first: skein approve ${agent.address} --token ${first?.token ?? ''}`,
  )

const several = (agent: Agent, asks: readonly Ask[]): SkeinError =>
  new SkeinError(
    'not-answered',
    `${agent.address} asks ${asks.length} things: ${asks.map((ask) => `${shortly(ask)} (${ask.token})`).join('; ')}`,
    `Name one: skein approve ${agent.address} --token ${asks[0]?.token ?? ''}`,
  )

const shortly = (ask: Ask | undefined): string => {
  const text = `${ask?.tool ?? ask?.kind ?? ''} ${ask?.what ?? ''}`.replace(/\s+/g, ' ').trim()
  return text.length > 100 ? `${text.slice(0, 99)}…` : text
}
