import { join } from 'node:path'
import { makeDirectory, statOf } from '../../disk/index.js'
import { type Agent, type Session, type SessionId, SkeinError } from '../../model/index.js'
import { WRITERS } from '../../tools/index.js'
import { SCRATCH_DIRECTORY } from '../agent-runs.js'
import { writeConversation } from '../fork/written-conversation.js'
import { type Parts, pause, runnerOf } from '../parts.js'
import { placeOfConversation } from '../run/account.js'
import { acceptDialogs } from '../run/settle-start.js'
import { type Started, start } from '../run/start.js'
import { planStart } from '../run/start-plan.js'
import { observe } from '../status/observe.js'
import { letGo, makeMedium, sweepMediums } from './medium.js'

const LOOK_MS = 200
/** A program draws its screen within this. */
const DRAWN_MS = 600

export interface CallUp {
  /** The program that answers; the session's own by default. */
  tool?: string
  /** The agent is removed with this process. */
  isForOneQuestion: boolean
  timeoutMs: number
  signal?: AbortSignal
}

/** The agent that answers for a session, and what it has of it. */
export interface CalledUp {
  agent: Agent
  tool: string
  /** `copy`: its tool has copied the conversation. Else it was written anew, from the session's log or from the archive. */
  from: 'copy' | 'log' | 'archive'
  /** The session's directory, or an empty one of the agent's where that is gone. */
  cwd: string
  is_directory_gone: boolean
  /** The conversation that it has before it is asked, as far as its program has said. */
  asked_in?: SessionId
}

/**
 * Starts an agent of its own in a copy of a past session: what is asked there never reaches the session itself. The tool makes the copy;
 * where it cannot, or another tool is to answer, the conversation is written anew.
 */
export async function callUp(parts: Parts, session: Session, options: CallUp): Promise<CalledUp> {
  await sweepMediums(parts)
  const tool = options.tool ?? session.tool
  if (tool === undefined) throw silent(session, 'its record has no tool')
  runnerOf(parts, tool)
  const there = session.cwd !== undefined && statOf(session.cwd)?.isDirectory() ? session.cwd : undefined
  const place =
    tool === session.tool ? await placeOfConversation(parts, { tool, cwd: there ?? '/' }, session.id) : undefined
  const canCopy =
    there !== undefined && place !== undefined && session.source !== 'run' && runnerOf(parts, tool).can.fork
  if (!canCopy) refuseUnwritable(session, tool, { there, isFound: place !== undefined })
  const agent = await makeMedium(parts, session, { tool, ...(there ? { cwd: there } : {}), ...options })
  try {
    const cwd = there ?? scratchOf(parts, agent)
    const named = place?.account === undefined ? {} : { account: place.account }
    const plan = await planStart(parts, { agent: agent.address, tool, cwd, ...named })
    const about = { agent, tool, cwd, is_directory_gone: there === undefined }
    if (canCopy) {
      await start(parts, agent, { fork: session.id, isAside: options.isForOneQuestion, plan })
      return { ...about, from: 'copy', ...(await untilLoaded(parts, agent, options)) }
    }
    const written = await writeConversation(parts, session, { tool, cwd, ...named })
    const started = await start(parts, agent, { plan: { ...plan, resume: written.session } })
    if (there === undefined) await trust(parts, agent, started)
    return { ...about, from: written.from, ...(await untilLoaded(parts, agent, options)) }
  } catch (error) {
    await letGo(parts, agent)
    throw error instanceof SkeinError ? unanswered(session, error) : error
  }
}

/** Of a tool that Skein writes no logs of, there is only the copy that the tool itself makes. */
function refuseUnwritable(
  session: Session,
  tool: string,
  { there, isFound }: { there: string | undefined; isFound: boolean },
): void {
  if (WRITERS.some((writer) => writer.tool === tool)) return
  if (tool !== session.tool) throw silent(session, `Skein cannot write a conversation for ${tool}`)
  if (there === undefined) throw silent(session, `its directory ${session.cwd ?? ''} is gone`)
  throw silent(session, isFound ? `${tool} cannot copy a conversation` : `${tool} has no log of it any more`)
}

/** Empty, and gone with the agent. */
function scratchOf({ runs }: Parts, { id }: Agent): string {
  const directory = join(runs.directoryOf(id), SCRATCH_DIRECTORY)
  makeDirectory(directory)
  return directory
}

/** Nobody has been asked yet whether to trust the directory, and there is nothing in it. */
async function trust(parts: Parts, agent: Agent, { observed }: Started): Promise<void> {
  const live = observed.run?.run
  if (live) await acceptDialogs(parts, agent, live, observed)
}

/**
 * Some programs show the prompt of an empty conversation before the copy is there: what is sent then is asked of nobody. A screen that is
 * half drawn does not show that yet, so it has to look the same for a while.
 */
async function untilLoaded(
  parts: Parts,
  agent: Agent,
  { timeoutMs, signal }: CallUp,
): Promise<Pick<CalledUp, 'asked_in'>> {
  let loadedSince: number | undefined
  for (const end = performance.now() + timeoutMs; !signal?.aborted && performance.now() < end; ) {
    const [seen] = await observe(parts, new Set([agent.id]))
    const isLoaded = seen?.verdict?.status.status !== 'starting' && !seen?.reading?.isNew
    loadedSince = isLoaded ? (loadedSince ?? performance.now()) : undefined
    if (seen?.isOver || (loadedSince !== undefined && performance.now() - loadedSince >= DRAWN_MS)) {
      const asked_in = seen?.run?.binding?.session
      return asked_in === undefined ? {} : { asked_in }
    }
    await pause(LOOK_MS, signal)
  }
  return {}
}

/** The question has reached a conversation that knows nothing of the session: what came of it is no reply of the session. */
export function refuseStrayed(session: Session, asked: string | undefined, now: string | undefined): void {
  if (asked === undefined || now === undefined || asked === now) return
  throw new SkeinError(
    'not-answered',
    `No reply of session ${session.id}: its program took the question into another conversation (${now})`,
    'Ask again',
  )
}

const silent = ({ id }: Session, because: string): SkeinError =>
  new SkeinError(
    'illegal-transition',
    `Session ${id} cannot be asked: ${because}`,
    `Read what it did: skein seance read ${id}`,
  )

/** Of an agent that is removed now: nobody can look at it. */
export function noReply(
  { id }: Session,
  { code, message }: SkeinError,
  { signal }: Pick<CallUp, 'signal'>,
): SkeinError {
  const read = `Read what it did: skein seance read ${id}`
  if (signal?.aborted) return new SkeinError('interrupted', 'Interrupted before there was a reply', read)
  const next = code === 'timed-out' ? `Wait longer with --timeout, or read what it did: skein seance read ${id}` : read
  return new SkeinError(code, `No reply of session ${id}: ${message}`, next)
}

const unanswered = ({ id }: Session, { code, message, next }: SkeinError): SkeinError =>
  new SkeinError(code, `Session ${id} cannot be asked: ${message}`, next)
