import { statOf } from '../../disk/index.js'
import { type Agent, isActive, type Session, type SessionId, SkeinError } from '../../model/index.js'
import type { ToolRunner } from '../../tools/index.js'
import { type AgentRun, type LiveRun, liveRun } from '../agent-run.js'
import type { StartAgent } from '../agents.js'
import { type Parts, runnerOf } from '../parts.js'
import { type ConversationPlace, placeOfConversation } from './account.js'
import { lifeNow } from './run-life.js'

/** A session of the history that an agent is to be started in. */
export interface ResumePlan {
  session: SessionId
  tool: string
  cwd: string
  /** The agent whose conversation it is, and which does not run. */
  holder: Agent | undefined
  /** The account that has the conversation, where nobody named it. */
  account?: string
}

/**
 * Finds a session and checks that its tool can open it again, whoever began it. Refuses what would begin an empty conversation in
 * its place, and what would let two programs write into one. Changes nothing.
 */
export async function planResume(parts: Parts, reference: string, given: StartAgent): Promise<ResumePlan> {
  const session = await parts.home.sessions.find(reference)
  const holder = await holderOf(parts, session.id)
  await refuseHeld(parts, session.id)
  const tool = toolOf(session, given)
  const runner = runnerOf(parts, tool)
  if (!runner.can.resume || session.source === 'run') {
    throw refused(session, `cannot be resumed: ${tool} has no way to open a session again`, turnsOf(session))
  }
  if (session.child_id) {
    throw refused(
      session,
      `is continued by ${session.child_id}`,
      `Resume that one: skein start --resume ${session.child_id}`,
    )
  }
  const cwd = directoryOf(session, given)
  const account = given.account ?? holder?.account
  const place = await placeOfConversation(parts, { tool, cwd, ...(account ? { account } : {}) }, session.id)
  if (!place) {
    throw refused(session, `cannot be resumed: ${tool} has no log of it any more`, backOf(session))
  }
  refuseOpen(place, session, runner, holder !== undefined || given.force === true)
  const named = place.account === undefined || holder ? {} : { account: place.account }
  return { session: session.id, tool, cwd, holder: holder?.agent, ...named }
}

/** Refuses a session that another agent has and runs in. */
export async function refuseHeld(parts: Parts, session: SessionId, self?: Agent): Promise<void> {
  const holder = await livingHolder(parts, session, self)
  if (holder?.live) throw held(session, holder.agent, holder.live)
}

/** Another agent that runs in this session, or is being started in it. */
export async function livingHolder(
  parts: Parts,
  session: SessionId,
  self?: Agent,
): Promise<{ agent: Agent; live: LiveRun | undefined } | undefined> {
  // Most often there is none: then nobody waits for the roster.
  const others = (await parts.runs.all()).filter((run) => run.agent !== self?.id && run.binding?.session === session)
  if (others.length === 0) return undefined
  const agents = new Map((await parts.home.roster.agents()).map((agent) => [agent.id, agent]))
  for (const run of others) {
    const agent = agents.get(run.agent)
    if (!agent) continue
    const live = liveRun(run)
    if (live ? (await lifeNow(parts, agent, live)) === 'alive' : run.launching) return { agent, live }
  }
  return undefined
}

/** The agent whose conversation it is, now or when it runs that tool again, and the account it has it under. */
async function holderOf(
  { home, runs }: Parts,
  session: SessionId,
): Promise<{ agent: Agent; account: string | undefined } | undefined> {
  const had = (run: AgentRun) =>
    [run, ...Object.values(run.other_tools ?? {})].find((one) => one.binding?.session === session)
  const holders = new Map(
    (await runs.all()).flatMap((run) => (had(run) ? [[run.agent, had(run)?.recipe.account]] : [])),
  )
  const agent = (await home.roster.agents()).find(({ id }) => holders.has(id))
  return agent && { agent, account: holders.get(agent.id) }
}

function toolOf(session: Session, given: StartAgent): string {
  const { tool = given.tool } = session
  if (tool === undefined) throw refused(session, 'has no tool in its record', 'Name the program: --tool <tool>')
  if (given.tool === undefined || given.tool === tool) return tool
  throw refused(session, `is a conversation of ${tool}, not of ${given.tool}`, 'Leave out --tool')
}

function directoryOf(session: Session, given: StartAgent): string {
  const { cwd = given.cwd } = session
  if (cwd === undefined) {
    throw refused(session, 'has no directory in its record', `Name it: skein start <directory> --resume ${session.id}`)
  }
  if (given.cwd !== undefined && given.cwd !== cwd) throw refused(session, `works in ${cwd}`, 'Leave out the directory')
  const found = statOf(cwd)
  if (found?.isDirectory()) return cwd
  const problem = found ? `in ${cwd}, which is not a directory` : `in ${cwd}, which is gone`
  throw refused(session, `worked ${problem}`, `Create the directory again, then try again. ${turnsOf(session)}`)
}

/** A program that has the session open would write into the same log. Where the tool registers what is open, its word counts. */
function refuseOpen({ environment }: ConversationPlace, session: Session, runner: ToolRunner, isSure: boolean): void {
  const open = runner.openConversations?.(environment)
  if (open?.has(session.id)) throw refused(session, 'is open in another program', 'End that program, then try again')
  if (open || isSure || !isActive(session)) return
  const next = 'End that program, then: skein ingest . If it has ended, add --force'
  throw refused(session, 'is active, so another program may have it open', next)
}

const held = (session: SessionId, { address }: Agent, { pid }: LiveRun): SkeinError =>
  new SkeinError(
    'agent-running',
    `Session ${session} is the conversation of ${address}, which runs (process ${pid})`,
    `Attach to it: skein attach ${address}`,
  )

const backOf = (session: Session): string => `Bring it back: skein resurrect ${session.id} . ${turnsOf(session)}`

const turnsOf = ({ id }: Session): string => `What was said: skein turns ${id}`

const refused = ({ id }: Session, what: string, next: string): SkeinError =>
  new SkeinError('illegal-transition', `Session ${id} ${what}`, next)
