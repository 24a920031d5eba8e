import type { Agent } from '../../model/index.js'
import type { DoneReceipt, HandoffReceipt, HandoffRequest } from '../agents.js'
import { findAgent } from '../find-agent.js'
import type { Parts } from '../parts.js'
import { stop } from '../run/stop.js'
import { refuseParked } from '../sling/admission.js'
import { giveKept } from '../talk/first-prompt.js'
import { addToHandoff } from './added-message.js'
import { collect, handoffBody, unsavedWork } from './collect.js'
import { type DoneOptions, finishWork } from './done.js'
import {
  addressOf,
  finishHandoff,
  type HandedOff,
  type HandoffOptions,
  type HandoffPlan,
  handOff,
  planHandoff,
  refuseLongMessage,
} from './handoff.js'
import { type HandoffMarker, unfinished } from './marker.js'
import { handoffTarget } from './target.js'

type Told<Receipt extends { agent: unknown }> = Omit<Receipt, 'agent'> & { agent: Agent }

/** A program that starts listens within this time, or its prompt waits for the next look. */
const LISTENS_MS = 30_000
const UNCHANGED = 'nothing was changed'

export async function performHandoff(parts: Parts, request: HandoffRequest): Promise<Told<HandoffReceipt>> {
  const { home } = parts
  const { dryRun = false, agent: asking, target: word, ...options } = request
  const self = asking === undefined ? undefined : await findAgent(parts.home, asking)
  const { agent, work } = await handoffTarget(parts, self, word)
  const sender = self && self.id !== agent.id ? { sender: self } : {}
  const asked = { ...options, ...(work ? { work } : {}), ...sender }
  const half = unfinished(await parts.runs.read(agent.id))
  if (half) {
    const finished = await (dryRun ? wouldFinish(parts, agent, half) : finishWith(parts, agent, asked))
    if (finished) return finished
  }
  const kind = options.kind ?? 'fresh'
  if (kind === 'fresh' && (await home.programs.roles()).of(agent)?.handoff === 'done')
    return deferred(parts, agent, asked, dryRun)
  const plan = await planHandoff(parts, agent, asked)
  const { marker, subject, body, unsaved } = plan
  if (dryRun) {
    const facts = { ...factsOf({ marker }), is_done: false, subject, body, unsaved }
    return { agent, ...facts, did: `would hand off ${agent.address}`, how: wouldDo(plan) }
  }
  const handed = await handOff(parts, plan)
  const how = await promptSuccessor(parts, agent, handed)
  return { agent, ...factsOf(handed), subject, unsaved, did: didOf(plan, handed), how }
}

/**
 * Finishes a handoff that was cut off in place of another one. The successor that starts is the one that the new message is for, so it
 * gets both.
 */
async function finishWith(
  parts: Parts,
  agent: Agent,
  asked: HandoffOptions,
): Promise<Told<HandoffReceipt> | undefined> {
  refuseLongMessage(asked.message)
  const notes: string[] = []
  const finished = await finishAndPrompt(parts, agent, async (marker) => {
    notes.push(...(await addToHandoff(parts, agent, marker, asked)))
  })
  if (!finished) return undefined
  const how = [finished.how, ...notes].join('; ')
  return { agent, ...finished, unsaved: [], did: `finished the handoff of ${agent.address} that was cut off`, how }
}

/** Undefined while the process of that handoff is still at it. */
async function wouldFinish(parts: Parts, agent: Agent, marker: HandoffMarker) {
  const held = await parts.runs.holdIfFree(agent.id, 'handoff')
  if (!held) return undefined
  held[Symbol.dispose]()
  await refuseParked(parts.home, agent.address)
  const did = `would finish the handoff of ${agent.address} that was cut off`
  const how = 'its successor would get your message, too; nothing was changed'
  return { agent, ...factsOf({ marker }), is_done: false, unsaved: [], did, how }
}

/** Undefined when there is nothing to finish, or its process is still at it. */
export async function finishAndPrompt(parts: Parts, agent: Agent, first?: (marker: HandoffMarker) => Promise<void>) {
  const finished = await finishHandoff(parts, agent, first)
  if (!finished) return undefined
  return { ...factsOf(finished), how: await promptSuccessor(parts, agent, finished) }
}

export async function performDone(parts: Parts, agent: Agent, options: DoneOptions = {}): Promise<Told<DoneReceipt>> {
  const { wasDone, session, closed, submitted } = await finishWork(parts, agent, options)
  if (wasDone) {
    const did = `${agent.address} is done already`
    return { agent, closed, ...(session ? { session } : {}), did, how: UNCHANGED }
  }
  const { wasRunning, how } = await stop(parts, agent)
  const { status = 'done' } = options
  const units = closed.length === 0 ? 'no work was hooked' : `${closed.join(', ')} ${status}`
  const merged = submitted === undefined ? 'nothing was submitted' : `submitted with ${submitted}`
  return {
    agent,
    closed,
    ...(session ? { session } : {}),
    ...(submitted ? { submitted } : {}),
    did: `${agent.address} is done: ${units}`,
    how: `${merged}; ${wasRunning ? how : 'it was not running'}`,
  }
}

/** An agent of such a role has no successor: its work waits for another one. What was to be said to a successor is in its inbox. */
async function deferred(
  parts: Parts,
  agent: Agent,
  { message, subject, reason = subject, work, sender = agent }: HandoffOptions,
  dryRun: boolean,
): Promise<Told<HandoffReceipt>> {
  refuseLongMessage(message)
  const { home } = parts
  const run = await parts.runs.read(agent.id)
  const unsaved = unsavedWork((await collect(parts, agent, run, { digest: false })).git)
  const facts = { kind: 'done' as const, unsaved, is_done: !dryRun }
  const why = `agents with the role ${(await home.programs.roles()).of(agent)?.name} end with their work`
  if (dryRun) return { agent, ...facts, did: `would defer the work of ${agent.address}`, how: why }
  if (work) await home.work.hook(work, addressOf(agent))
  const session = run?.binding?.session
  const mail = message?.trim()
    ? await home.work.send({
        ...{ to: addressOf(agent), from: addressOf(sender), subject: subject ?? 'Handoff', kind: 'handoff' as const },
        body: handoffBody(message, undefined),
        ...(session ? { from_session: session } : {}),
      })
    : undefined
  const done = await performDone(parts, agent, { status: 'deferred', ...(reason ? { reason } : {}) })
  return {
    agent,
    ...facts,
    ...(session ? { from: session } : {}),
    ...(mail ? { mail: mail.id } : {}),
    did: done.did,
    how: [
      why,
      ...(mail ? [`mail ${mail.id} is in its inbox`] : []),
      mail && done.how === UNCHANGED ? 'nothing else was changed' : done.how,
    ].join('; '),
  }
}

function factsOf({ marker: { kind, from, to, mail }, started }: HandedOff) {
  const successor = kind === 'fresh' ? (started?.session ?? to) : undefined
  return { kind, is_done: true, from, ...(successor ? { to: successor } : {}), ...(mail ? { mail } : {}) }
}

function didOf({ agent, kind, isRunning }: HandoffPlan, { marker, started }: HandedOff): string {
  const where = started ? ` (${started.tier})` : ''
  if (!isRunning) return `saved a handoff for ${agent.address}, which does not run: its next start reads it`
  if (kind === 'auto') return `saved a handoff for ${agent.address}`
  if (kind === 'cycle') return `restarted ${agent.address} in its conversation ${marker.from}${where}`
  const tool = marker.tool ? `, now with ${marker.tool}` : ''
  return `handed off ${agent.address}: ${marker.from} continues in ${started?.session ?? marker.to}${tool}${where}`
}

function wouldDo({ kind, marker, work, isRunning }: HandoffPlan): string {
  const steps = [
    ...(work ? [`hook ${work.id}`] : []),
    'save and hook a mail',
    ...(kind === 'auto'
      ? []
      : [kind === 'cycle' ? 'restart it in its conversation' : 'start its next session in its pane']),
    ...(marker.tool ? [`with ${marker.tool}`] : []),
    ...(isRunning ? [] : ['leave it stopped']),
  ]
  return `it would ${steps.join(', ')}; nothing was changed`
}

/** Its first prompt says why the successor was started, so that it begins. It is kept with the run. */
async function promptSuccessor(parts: Parts, agent: Agent, { marker, started }: HandedOff): Promise<string> {
  const isCycle = marker.kind === 'cycle' && started !== undefined
  const runs = isCycle ? `; it runs as process ${started.observed.run?.run?.pid}` : ''
  const saved = `mail ${marker.mail} is on its hook${runs}`
  if (marker.kind === 'auto' || (marker.kind === 'cycle' && !marker.is_cut)) return saved
  const given = await giveKept(parts, agent, LISTENS_MS)
  const prompt = isCycle ? 'the prompt to continue' : 'its first prompt'
  if ('sent' in given) return `${saved}; ${prompt} was ${given.sent.delivery}: ${given.sent.how}`
  return `${saved}; ${prompt} is kept and will be sent as soon as its program takes it: ${given.kept}`
}
