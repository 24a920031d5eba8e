import { type Agent, type AgentStatus, type Instant, type Mail, SkeinError, type WorkUnit } from '../../model/index.js'
import { type AgentRun, liveRun } from '../agent-run.js'
import { withKeptEnvironment } from '../care/kept-environment.js'
import { nowOf, type Parts, runnerOf } from '../parts.js'
import { beaconFor, senderFor } from '../run/beacon-for.js'
import { recordHandoff } from '../run/recorded-session.js'
import { type Started, start } from '../run/start.js'
import { recipeOfTool } from '../run/start-plan.js'
import type { StartStepName } from '../run/start-steps.js'
import { refuseParked } from '../sling/admission.js'
import { observe } from '../status/observe.js'
import { keepPrompt } from '../talk/pending-prompt.js'
import { type Collected, collect, givenIn, handoffBody, MESSAGE_CHARS, unsavedWork } from './collect.js'
import { type HandoffKind, type HandoffMarker, handoffEvents, unfinished, wasTold } from './marker.js'
import { successorOf } from './successor.js'

/** A handoff that follows the one before so soon is a loop: the successor was told to do what its predecessor had just done. */
const COOLDOWN_MS = 60_000
const SUBJECT = 'Handoff'

export interface HandoffOptions {
  kind?: HandoffKind
  subject?: string
  message?: string
  /** Add the state of the directory, the work and the conversation. So is what has no message. */
  collect?: boolean
  reason?: string
  /** The tool that the successor runs. */
  tool?: string
  /** A unit of work that is hooked first. */
  work?: string
  /** Who asks for it, where it is another agent. */
  sender?: Agent
}

/** What saving a handoff needs: a hook has no more. */
export type SavingParts = Pick<Parts, 'home' | 'context' | 'runs' | 'environment'>

/** Saves what the session has to know after its context was compacted. The conversation continues; nothing is started. */
export async function saveHandoff(
  parts: SavingParts,
  agent: Agent,
  reason: string,
): Promise<HandoffMarker | undefined> {
  const run = await parts.runs.read(agent.id)
  const from = run?.binding?.session
  if (!run || !from || unfinished(run)) return undefined
  const body = handoffBody(undefined, await collect(parts, agent, run))
  const subject = `${SUBJECT}: ${reason}`
  const id = parts.context.random.uuid()
  const saved = { id, from, reason, subject, topic: 'handoff', at: nowOf(parts), step: 'saved', kind: 'auto' } as const
  using _handing = await parts.runs.hold(agent.id, 'handoff', 0)
  const marker = { ...saved, mail: await saveMail(parts, { agent, run, subject, body, marker: saved }) }
  await setMarker(parts, agent, marker)
  await tell(parts, agent, marker)
  return marker
}

/** What a handoff would do. Making a plan changes nothing. */
export interface HandoffPlan {
  agent: Agent
  run: AgentRun
  kind: HandoffKind
  /** What is not committed or not pushed. */
  unsaved: string[]
  subject: string
  body: string
  work?: WorkUnit
  sender?: Agent
  marker: HandoffMarker
  /** False for an agent that does not run: what is saved waits for its next start. */
  isRunning: boolean
}

/** Refuses what cannot be done, before anything is changed. */
export async function planHandoff(parts: Parts, agent: Agent, options: HandoffOptions = {}): Promise<HandoffPlan> {
  const { message, reason, sender } = options
  refuseLongMessage(message)
  // Whether it ends a turn decides what its program is told; without a daemon nobody may have looked since the turn began.
  if (options.kind === 'cycle') await observe(parts, new Set([agent.id]))
  const run = await parts.runs.read(agent.id)
  const from = run?.binding?.session
  if (!run || !from) throw nothingToHandOff(agent)
  const isRunning = liveRun(run) !== undefined
  // What does not run is not started by this: everything is saved for its next start.
  const kind = isRunning ? (options.kind ?? 'fresh') : 'auto'
  const at = nowOf(parts)
  if (kind !== 'auto') {
    refuseSoon(parts, agent, run)
    await refuseParked(parts.home, agent.address, ' . To save only: skein handoff --auto')
  }
  const tool = options.tool === undefined || options.tool === run.recipe.tool ? undefined : options.tool
  if (tool !== undefined) refuseTool(agent, { kind, tool, isRunning })
  const to = kind === 'auto' ? undefined : await successorOf(withKeptEnvironment(parts, agent), agent, run, tool)
  const work = options.work === undefined ? undefined : await parts.home.work.show(options.work)
  const wantsState =
    options.collect === true || (options.kind ?? 'fresh') !== 'fresh' || message === undefined || tool !== undefined
  const collected: Collected = await collect(parts, agent, run, { digest: wantsState })
  const subject = options.subject ?? (reason ? `${SUBJECT}: ${reason}` : SUBJECT)
  return {
    agent,
    run,
    kind,
    unsaved: kind === 'auto' ? [] : unsavedWork(collected.git),
    subject,
    body: handoffBody(message, wantsState ? collected : undefined),
    ...(work ? { work } : {}),
    ...(sender ? { sender } : {}),
    isRunning,
    marker: {
      id: parts.context.random.uuid(),
      from,
      ...(kind === 'fresh' && to ? { to } : {}),
      ...(tool ? { tool } : {}),
      ...(reason ? { reason } : {}),
      subject,
      topic: 'handoff',
      ...(sender ? { sender: sender.address } : {}),
      at,
      ...(kind === 'cycle' && isInTurn(run.status) ? { is_cut: true as const } : {}),
      step: kind === 'auto' ? 'saved' : 'marked',
      kind,
    },
  }
}

/** It works, or it has stopped in the middle of its work to ask something. */
const isInTurn = ({ status, waiting_for }: AgentStatus): boolean =>
  status === 'running' || (status === 'waiting' && waiting_for !== 'finished')

/** What became of a handoff. */
export interface HandedOff {
  marker: HandoffMarker
  started?: Started
}

/** For tests that kill the process there. */
export type Reached = (step: 'hooked' | 'saved' | 'marked' | 'linked' | StartStepName) => void

/**
 * Hands an agent's work to its next session. Each step is complete before the next, and all that is needed to go on is in the agent's file
 * from `marked` on: killed anywhere, the handoff is finished by `finishHandoff`, or by whoever starts the agent.
 */
export async function handOff(parts: Parts, plan: HandoffPlan, reached: Reached = () => {}): Promise<HandedOff> {
  const { agent, kind, work } = plan
  using _handing = await parts.runs.hold(agent.id, 'handoff', 0)
  const before = await parts.runs.read(agent.id)
  if (kind !== 'auto' && before) refuseSoon(parts, agent, before)
  if (work) await parts.home.work.hook(work.id, addressOf(agent))
  reached('hooked')
  const marker: HandoffMarker = { ...plan.marker, mail: await saveMail(parts, plan) }
  reached('saved')
  await setMarker(parts, agent, marker)
  reached('marked')
  return await carryOn(parts, agent, marker, reached) // awaited: the lock is held until then
}

/**
 * Finishes a handoff whose process was killed. Undefined when there is none, or when its process is still at it. A prime, a start or any
 * later look may call it; what was done already is not done again. `first` is done before the successor starts.
 */
export async function finishHandoff(
  parts: Parts,
  agent: Agent,
  first: (marker: HandoffMarker) => Promise<void> = async () => {},
): Promise<HandedOff | undefined> {
  if (!unfinished(await parts.runs.read(agent.id))) return undefined
  const held = await parts.runs.holdIfFree(agent.id, 'handoff')
  if (!held) return undefined
  using _handing = held
  await observe(parts, new Set([agent.id])) // finds a pane that was made and not recorded
  const run = await parts.runs.read(agent.id)
  const marker = unfinished(run)
  if (!run || !marker) return undefined
  if (!hasBegun(run, marker)) await refuseParked(parts.home, agent.address)
  await first(marker)
  return await carryOn(parts, agent, marker, () => {}, await wasTold(parts, marker))
}

async function carryOn(
  parts: Parts,
  agent: Agent,
  marker: HandoffMarker,
  reached: Reached,
  isTold = false,
): Promise<HandedOff> {
  const { home, runs } = parts
  if (marker.kind === 'auto') {
    await tell(parts, agent, marker)
    return { marker }
  }
  const run = await runs.read(agent.id)
  const isBegun = hasBegun(run, marker)
  if (marker.step === 'marked' && run) {
    if (!isTold) await tell(parts, agent, marker)
    if (marker.tool && agent.tool !== marker.tool) await home.roster.update(agent.id, { tool: marker.tool })
    if (marker.to) {
      const { subject, topic = 'handoff', sender = 'self' } = marker
      const purpose = { topic, sender: senderFor(parts, await home.programs.roles(), sender) }
      await recordHandoff(parts, agent, withTool(run, marker.tool), marker.from, marker.to, { subject, purpose })
    }
    await setMarker(parts, agent, { ...marker, step: isBegun ? 'respawned' : 'linked' })
  } else if (isBegun) await setMarker(parts, agent, { ...marker, step: 'respawned' })
  reached('linked')
  if (isBegun) {
    await promptBegun(parts, agent, marker)
    return { marker: { ...marker, step: 'respawned' } }
  }
  const next = marker.tool ? { ...agent, tool: marker.tool } : agent
  const started = await start(parts, next, { replace: true, asBefore: true, onStep: reached })
  return { marker: { ...marker, step: 'respawned' }, started }
}

/** Whether the successor runs. */
function hasBegun(run: AgentRun | undefined, { kind, from, to }: HandoffMarker): boolean {
  const session = run?.binding?.session
  return kind === 'fresh' && liveRun(run) !== undefined && session !== from && session === (to ?? session)
}

/** A successor whose start was cut off before it was recorded: it runs, and nobody has told it why. */
async function promptBegun(parts: Parts, agent: Agent, { sender = 'self', topic = 'handoff' }: HandoffMarker) {
  const run = await parts.runs.read(agent.id)
  const live = liveRun(run)
  if (!run || !live || run.pending_prompt || (run.prompted_at ?? '') >= live.started_at) return
  const roles = await parts.home.programs.roles()
  const isPrimed = runnerOf(parts, run.recipe.tool).can.tells
  await keepPrompt(parts, agent, await beaconFor(parts, agent, { roles, isPrimed, topic, sender }))
}

const withTool = (run: AgentRun, tool: string | undefined): AgentRun =>
  tool === undefined ? run : { ...run, recipe: recipeOfTool(run, tool).recipe }

/**
 * The mail is saved and on the hook in one change. What the session itself was begun with is done with then, and what was collected in it
 * before: the new mail carries it on. A message that somebody gave stays until a successor has had it.
 */
async function saveMail(
  parts: Pick<SavingParts, 'home' | 'context'>,
  {
    agent,
    run,
    subject,
    body,
    marker,
    sender,
  }: Pick<HandoffPlan, 'agent' | 'run' | 'subject' | 'body' | 'marker' | 'sender'>,
): Promise<string> {
  const { work } = parts.home
  const self = addressOf(agent)
  const before = await work.hooked(self)
  const mail = await work.send({
    to: self,
    from: sender ? addressOf(sender) : self,
    subject,
    body,
    kind: 'handoff',
    from_session: marker.from,
    for_session: marker.from,
    is_hooked: true,
  })
  const since = run.binding?.since ?? marker.at
  const isRepeated = (given: string): boolean => given === '' || given === givenIn(body)
  const isCarriedOn = ({ kind, from_session, sent_at, body: saved }: Mail): boolean =>
    kind === 'handoff' && (sent_at < since || (from_session === marker.from && isRepeated(givenIn(saved))))
  for (const { id } of before.mail.filter(isCarriedOn)) await work.settleMail(id, { session: marker.from })
  const molecule = marker.kind === 'fresh' ? await detachMolecule(parts, before.work) : undefined
  await work.appendHandoffRecord(self, {
    subject,
    from_session: marker.from,
    mail: mail.id,
    ...(molecule ? { molecule_id: molecule } : {}),
  })
  return mail.id
}

/** Its successor begins a plan of its own; the record keeps which one was open. What cannot be detached stays, and the handoff goes on. */
async function detachMolecule(
  { home, context }: Pick<SavingParts, 'home' | 'context'>,
  units: readonly WorkUnit[],
): Promise<string | undefined> {
  const unit = units.find(({ molecule_id }) => molecule_id !== undefined)
  if (!unit) return undefined
  try {
    await home.work.detach(unit.id)
    return unit.molecule_id
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error
    context.warn(`The molecule ${unit.molecule_id} stays attached to ${unit.id}: ${error.message}`)
    return undefined
  }
}

async function setMarker(parts: Pick<Parts, 'runs'>, agent: Agent, marker: HandoffMarker): Promise<void> {
  await parts.runs.update(agent, (current) => {
    if (!current) return undefined
    const ended = marker.kind === 'auto' ? {} : { handed_off_at: marker.at }
    return { next: { ...current, ...ended, handoff: marker }, result: undefined }
  })
}

async function tell(parts: Pick<Parts, 'home'>, agent: Agent, marker: HandoffMarker): Promise<void> {
  for (const event of handoffEvents(marker)) await parts.home.events.append({ ...event, agent: agent.address })
}

export const addressOf = ({ address, id }: Agent): Pick<Agent, 'address' | 'id'> => ({ address, id })

/** How long ago it handed off, while that is so recent that another handoff would be a loop. */
function passedSince({ context }: Pick<Parts, 'context'>, handedOffAt: Instant | undefined): number | undefined {
  const passed = handedOffAt === undefined ? -1 : context.clock.now() - Date.parse(handedOffAt)
  return passed >= 0 && passed < COOLDOWN_MS ? passed : undefined
}

export const isTooSoon = (parts: Pick<Parts, 'context'>, run: AgentRun | undefined): boolean =>
  unfinished(run) !== undefined || passedSince(parts, run?.handed_off_at) !== undefined

/** What is longer belongs into a file: a successor is told the beginning of a mail, and a part that is missing would not be noticed. */
export function refuseLongMessage(message: string | undefined): void {
  const { length } = [...(message ?? '').trim()]
  if (length <= MESSAGE_CHARS) return
  const next = 'Write it into a file, and name the file in the message'
  throw new SkeinError('bad-input', `The message has ${length} characters; at most ${MESSAGE_CHARS} are kept`, next)
}

function refuseSoon(parts: Parts, agent: Agent, { handed_off_at, handoff }: AgentRun): void {
  if (unfinished({ ...(handoff ? { handoff } : {}) })) {
    throw new SkeinError(
      'agent-busy',
      `${agent.address} has a handoff that was not finished`,
      `Finish it: skein restart ${agent.address}`,
    )
  }
  const passed = passedSince(parts, handed_off_at)
  if (passed === undefined) return
  const left = Math.ceil((COOLDOWN_MS - passed) / 1000)
  throw new SkeinError(
    'handoff-too-soon',
    `${agent.address} handed off ${Math.floor(passed / 1000)} s ago: the handoff is done, and this session is its successor`,
    `Continue with the work. Another handoff is possible in ${left} s`,
  )
}

function refuseTool(
  { address, command }: Agent,
  { kind, tool, isRunning }: { kind: HandoffKind; tool: string; isRunning: boolean },
): void {
  if (!isRunning) {
    const next = `Start it first: skein start --agent ${address} . Or leave out --tool: what is saved waits for its next start`
    throw new SkeinError('agent-not-running', `${address} does not run, so it cannot be handed off to ${tool}`, next)
  }
  if (kind !== 'fresh') {
    const next = 'Leave out --cycle or --auto: another tool begins a new conversation'
    throw new SkeinError('bad-input', `A conversation cannot continue in ${tool} under its own id`, next)
  }
  if (command === undefined) return
  const next = `Clear it first: skein agents set ${address} --command ""`
  throw new SkeinError('bad-input', `${address} runs a command of its own, which is not ${tool}`, next)
}

const nothingToHandOff = ({ address }: Agent): SkeinError =>
  new SkeinError(
    'agent-not-running',
    `${address} has no conversation to hand off`,
    `Start it: skein start --agent ${address}`,
  )
