import type { Home } from '../../home/index.js'
import {
  type Agent,
  type Instant,
  instantOf,
  isActive,
  type Session,
  type SessionId,
  SkeinError,
} from '../../model/index.js'
import type { AgentRun } from '../agent-run.js'
import { type Checkpoint, checkpointFor } from '../care/checkpoint.js'
import { consumeHandoff, type HandoffMarker, isFor, type PrimeSource } from '../handoff/marker.js'
import type { Parts } from '../parts.js'
import { isWithinTree } from '../status/process-family.js'
import { holderOf, type IdentityLock, type LockVerdict, lockFor } from './identity-lock.js'
import { OutsideSessions } from './outside-sessions.js'
import { mailOf, NO_WORK, type PrimedWork, workOf } from './primed-work.js'
import { type PrimedRole, whoIs } from './who-is.js'

/** In the order in which they win. */
export type PrimeState = 'post-handoff' | 'crash-recovery' | 'autonomous' | 'normal'

export type PrimeParts = Pick<Parts, 'runs' | 'context'> & { readonly home: Home }

/** Who asks to be primed, as far as it is known. */
export interface PrimeRequest {
  /** The agent that the run or SKEIN_AGENT names. */
  readonly agent: string | undefined
  readonly session: SessionId | undefined
  readonly source: PrimeSource | undefined
  readonly cwd: string
  /** The agent's own program, where it is known. */
  readonly pid: number | undefined
  readonly tool: string | undefined
  /** The program's own hook asks, and not somebody who typed the command: only then does a session begin. */
  readonly isHook: boolean
  /** The run reports through the spool: whoever takes that in records its sessions. */
  readonly isReported: boolean
  /** Nothing is consumed, taken or recorded. */
  readonly isDry: boolean
  /** How long to wait for others who change the agent. */
  readonly waitMs: number
}

/** Everything that is known about an agent whose session begins. */
export interface Prime extends PrimedWork {
  readonly state: PrimeState
  /** Why it is that state, and what else was decided, for `--explain`. */
  readonly reasons: readonly string[]
  /** What the agent and its user have to know: conflicts, things that could not be read. */
  readonly notes: readonly string[]
  readonly agent?: Agent
  readonly role?: PrimedRole
  readonly session?: SessionId
  readonly source?: PrimeSource
  readonly cwd: string
  /** The session before, if it crashed. */
  readonly parent?: SessionId
  readonly handoff?: HandoffMarker
  /** Its process ended unasked before this one was started: why and when. */
  readonly after?: { readonly reason: string; readonly at: Instant }
  /** How far it came before that. */
  readonly checkpoint?: Checkpoint
  readonly lock?: IdentityLock
  /** Another living process is this agent. */
  readonly isHeld: boolean
  readonly isLight: boolean
}

/** Confirms who the agent is, takes its identity, and gathers what it has to know. */
export async function prime(parts: PrimeParts, request: PrimeRequest): Promise<Prime> {
  const reasons: string[] = []
  const notes: string[] = []
  const { agent, role } = await whoIs(parts.home, request, reasons, notes)
  const stored = agent && (await parts.runs.found(agent.id))
  if (stored?.problem) notes.push(stored.problem)
  const run = stored?.run
  const named = request.session ?? run?.binding?.session
  const begun =
    named === undefined && isUnreported(request) ? { session: parts.context.random.uuid() as SessionId } : {}
  const session = named ?? begun.session
  const asked = { ...request, ...begun, ...(isSeeded(request, run, session) ? { source: 'startup' as const } : {}) }
  if (begun.session) reasons.push(`session ${begun.session}: a new id, because nothing names one`)
  if (!asked.session && session) reasons.push(`session ${session}: the one the agent was last in`)
  const record = session && (await parts.home.sessions.get(session))
  const lock = agent ? await identity(parts, agent, run, asked, session, reasons, notes) : undefined
  const isHeld = lock?.kind === 'held'
  if (asked.isHook && !asked.isDry && !isHeld) await recordSession(parts, asked, agent, record, reasons)
  const handoff = agent && session && !isHeld ? await handoffFor(parts, agent, run, session, asked, reasons) : undefined
  const isResumed = asked.source === 'resume' && handoff?.kind !== 'fresh'
  const isLight = asked.source === 'compact' || isResumed
  // A hook after a compaction prints no units, and its agent waits.
  const isBrief = isLight && asked.isHook && !asked.isDry
  const { work: provider } = parts.home
  const reading = agent && (isBrief ? mailOf(provider, agent, notes) : workOf(provider, agent, session, notes))
  const work = (await reading) ?? NO_WORK
  const crashed = record?.link === 'crash' ? record.parent_id : undefined
  const hooked = work.work.length + work.mail.length
  // A compaction or a clear later in the same process has nothing to do with it.
  const after = asked.source === 'compact' || asked.source === 'clear' ? undefined : run?.run?.after
  const checkpoint = agent && !handoff && (crashed || after) ? checkpointFor(parts, agent, asked.cwd) : undefined
  return {
    state: stateOf({ handoff, crashed, hooked }, reasons),
    reasons,
    notes,
    ...(agent ? { agent } : {}),
    ...(role ? { role } : {}),
    ...(session ? { session } : {}),
    ...(asked.source ? { source: asked.source } : {}),
    cwd: asked.cwd,
    ...(crashed ? { parent: crashed } : {}),
    ...(handoff ? { handoff } : {}),
    ...(after ? { after } : {}),
    ...(checkpoint ? { checkpoint } : {}),
    ...(lock?.kind === 'taken' ? { lock: lock.lock } : {}),
    isHeld,
    ...work,
    isLight,
  }
}

/** A session begins that nobody else will record. */
const isUnreported = ({ isHook, isDry, isReported }: PrimeRequest): boolean => isHook && !isDry && !isReported

/** Of a conversation that Skein has written the beginning of, so that it has the id that was chosen, a program says that it resumes it. */
function isSeeded({ source, pid }: PrimeRequest, run: AgentRun | undefined, session: SessionId | undefined): boolean {
  const { how } = run?.launching ?? run?.run ?? {}
  const isPrimed = run?.lock?.session === session && (pid === undefined || run?.lock?.pid === pid)
  return source === 'resume' && how === 'new' && run?.binding?.session === session && !isPrimed
}

type Identity = { readonly kind: 'taken'; readonly lock: IdentityLock } | { readonly kind: 'held' }

/** Takes the identity for the agent's program. A second living one is reported, never ended. */
async function identity(
  parts: PrimeParts,
  agent: Agent,
  run: AgentRun | undefined,
  asked: PrimeRequest,
  session: SessionId | undefined,
  reasons: string[],
  notes: string[],
): Promise<Identity | undefined> {
  const pid = asked.pid ?? programOf(run)
  if (pid === undefined) {
    reasons.push(
      'identity lock: not taken, because the program of this agent is not among the processes that run this command',
    )
    return undefined
  }
  const claim = { pid, session, at: nowOf(parts) }
  const before = lockFor(run?.lock, claim)
  if (before.kind === 'held') return held(before.by)
  reasons.push(`identity lock: process ${pid}`)
  if (asked.isDry || !run || isSameLock(run.lock, before.lock)) return before
  const take = (current: AgentRun | undefined) => {
    if (!current) return undefined
    const verdict = lockFor(current.lock, claim)
    const next = verdict.kind === 'held' ? current : { ...current, lock: verdict.lock }
    return { next, isDurable: false, result: verdict }
  }
  const changing = parts.runs.update<LockVerdict>(agent, take, { waitMs: asked.waitMs })
  const taken = await changing.catch((error: unknown) => tooBusy(error, reasons))
  return taken?.kind === 'held' ? held(taken.by) : taken

  function held(by: IdentityLock): Identity {
    notes.push(
      `${agent.address} is already running as process ${by.pid} (since ${by.at}${by.session ? `, session ${by.session}` : ''}), and this is process ${pid}. Neither was ended.`,
    )
    reasons.push(`identity lock: held by process ${by.pid}`)
    return { kind: 'held' }
  }
}

/** What could not be stored now is stored by the next prime; the agent is told what it has to know all the same. */
function tooBusy(error: unknown, reasons: string[]): undefined {
  if (!(error instanceof SkeinError)) throw error
  reasons.push(`not stored: ${error.message}`)
  return undefined
}

const isSameLock = (a: IdentityLock | undefined, b: IdentityLock): boolean =>
  a?.pid === b.pid && a.process_start === b.process_start && a.session === b.session

/** The agent's program, if it runs this command. */
function programOf(run: AgentRun | undefined): number | undefined {
  const pid = run?.run && run.run.ended_at === undefined ? (run.run.program_pid ?? run.run.pid) : undefined
  return pid !== undefined && isWithinTree(process.pid, pid) === true ? pid : undefined
}

/** For who does not report through the spool: then nobody else records it. A command that somebody typed never does. */
async function recordSession(
  { home, context }: PrimeParts,
  { session, isReported, tool, cwd, source, pid }: PrimeRequest,
  agent: Agent | undefined,
  known: Session | undefined,
  reasons: string[],
): Promise<void> {
  if (session === undefined || isReported) return
  if (pid !== undefined) {
    const process = holderOf({ pid, session, at: nowOf({ context }) })
    new OutsideSessions(home.paths.agents).note({ v: 1, session, ...(agent ? { agent: agent.id } : {}), process })
  }
  const isFoundOnly = known?.source === 'log' && known.agent === undefined && agent !== undefined
  const isLeft = known !== undefined && source === 'resume' && !isActive(known) && !known.child_id
  if (!known || isFoundOnly) {
    const facts = { ...(agent ? { agent: agent.address } : {}), ...(tool ? { tool } : {}), cwd }
    // Without a process to watch, its log has to say when it is over.
    const found = pid === undefined ? { source: 'log' as const } : {}
    await home.sessions.start({ id: session, ...facts, ...found, mayExist: true })
    reasons.push('session_start: recorded')
  }
  if (isLeft) {
    await home.sessions.start({ id: session, resume: true })
    reasons.push('session_start: opened again')
  }
  if (known && !isFoundOnly && !isLeft) reasons.push('session_start: recorded before')
}

/** The handoff that this session is the successor of; taken away unless nothing may change. */
async function handoffFor(
  parts: PrimeParts,
  agent: Agent,
  run: AgentRun | undefined,
  session: SessionId,
  { source = 'startup', isDry }: Pick<PrimeRequest, 'source' | 'isDry'>,
  reasons: string[],
): Promise<HandoffMarker | undefined> {
  const marker = run?.handoff
  if (!marker || !isFor(marker, session, source)) return undefined
  if (isDry) return marker
  try {
    return await consumeHandoff(parts, agent, session, source)
  } catch (error) {
    tooBusy(error, reasons)
    return marker
  }
}

export function stateOf(
  { handoff, crashed, hooked }: { handoff: HandoffMarker | undefined; crashed: SessionId | undefined; hooked: number },
  reasons: string[] = [],
): PrimeState {
  if (handoff) {
    reasons.push(`post-handoff: session ${handoff.from} handed off at ${handoff.at}`)
    return 'post-handoff'
  }
  if (crashed) {
    reasons.push(`crash-recovery: session ${crashed} crashed, was killed or got lost`)
    return 'crash-recovery'
  }
  if (hooked > 0) {
    reasons.push(`autonomous: ${hooked} on the hook`)
    return 'autonomous'
  }
  reasons.push('normal: no handoff, no crash, nothing on the hook')
  return 'normal'
}

const nowOf = ({ context }: Pick<PrimeParts, 'context'>): Instant => instantOf(context.clock.now())
