import { isAbsolute } from 'node:path'
import { statOf } from '../../disk/index.js'
import { type Session, type SessionId, SkeinError } from '../../model/index.js'
import { type LeftOut, writerOf } from '../../tools/index.js'
import { type Parts, runnerOf } from '../parts.js'
import { environmentFor } from '../run/account.js'
import { refuseHeld } from '../run/resume-plan.js'
import { writeConversation } from './written-conversation.js'

export interface ResurrectRequest {
  /** The program that is to open it; its own by default. */
  tool?: string
  /** `provider/model`, for a program that has to be given one. */
  model?: string
}

/** A session that can be resumed again. */
export interface Resurrection {
  session: Session
  /** The one whose words it has, where it could not keep the id. */
  source_session_id: SessionId
  tool: string
  turns: number
  from: 'log' | 'archive'
  left_out: LeftOut[]
}

/**
 * Brings back a session whose log its tool has deleted: writes the log again, from what the archive has, under the session's own id
 * where the tool allows it. Refused, with nothing changed, while the log is there.
 */
export async function resurrect(parts: Parts, reference: string, request: ResurrectRequest): Promise<Resurrection> {
  const source = await parts.home.sessions.find(reference)
  const tool = request.tool ?? source.tool
  if (tool === undefined) throw refused(source, 'has no tool in its record', 'Name the program: --tool <tool>')
  const writer = writerOf(tool)
  await refuseHeld(parts, source.id)
  const cwd = directoryOf(source)
  const account = await accountFor(parts, source.id, tool)
  await refusePresent(parts, source, { tool, cwd, ...(account === undefined ? {} : { account }) })
  // A session with an agent may be one that Skein has begun.
  const isBound = writer.isBoundToBegun === true && source.agent !== undefined
  const keepsId = tool === source.tool && writer.takes(source.id) && !isBound
  const { session, turns, from, left_out } = await writeConversation(parts, source, {
    tool,
    cwd,
    ...(account === undefined ? {} : { account }),
    ...(keepsId ? { session: source.id } : {}),
    ...(request.model === undefined ? {} : { model: request.model }),
  })
  const record = keepsId ? source : await recordCopy(parts, source, session, { tool, cwd })
  const { events } = parts.home
  const payload = { tool, from, turns, source_session_id: source.id, left_out }
  await events.append({
    type: 'session_resurrected',
    session,
    ...(source.agent ? { agent: source.agent } : {}),
    payload,
  })
  return { session: record, source_session_id: source.id, tool, turns, from, left_out }
}

function directoryOf(session: Session): string {
  const { id, cwd } = session
  if (cwd === undefined || !isAbsolute(cwd))
    throw refused(session, 'has no directory in its record', `What was said: skein turns ${id}`)
  if (statOf(cwd)?.isDirectory()) return cwd
  throw refused(session, `worked in ${cwd}, which is gone`, 'Create the directory again, then try again')
}

/** A log that is there is what its program goes on with; a second one would make two conversations of one. */
async function refusePresent(
  parts: Parts,
  session: Session,
  target: { tool: string; cwd: string; account?: string },
): Promise<void> {
  if (session.tool === undefined) return
  const runner = runnerOf(parts, session.tool)
  const environment = target.tool === session.tool ? environmentFor(parts, target) : parts.environment
  if ((await runner.hasConversation?.(session.id, environment)) !== true) return
  const next =
    target.tool === session.tool
      ? `Resume it: skein start --resume ${session.id}`
      : `Continue it in ${target.tool}: skein fork ${session.id} --tool ${target.tool}`
  throw refused(session, `needs no resurrection: ${session.tool} still has its log`, next)
}

/** The account that its agent runs that tool with. */
async function accountFor({ runs }: Parts, session: SessionId, tool: string): Promise<string | undefined> {
  const holder = (await runs.all()).find(({ binding }) => binding?.session === session)
  return holder?.recipe.tool === tool ? holder.recipe.account : undefined
}

/** Ended until its program is started: a session that is active may be open somewhere. */
async function recordCopy(
  { home }: Parts,
  source: Session,
  id: SessionId,
  { tool, cwd }: { tool: string; cwd: string },
): Promise<Session> {
  const title = source.title === undefined ? {} : { title: source.title }
  await home.sessions.start({ id, tool, cwd, ...title, forked_from: { session: source.id }, mayExist: true })
  return home.sessions.end(id, { outcome: 'exit', reason: `written for ${tool}, from ${source.id}` })
}

const refused = ({ id }: Session, what: string, next: string): SkeinError =>
  new SkeinError('illegal-transition', `Session ${id} ${what}`, next)
