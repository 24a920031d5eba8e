import { statOf } from '../../disk/index.js'
import type { Session, SessionId } from '../../model/index.js'
import {
  type Conversation,
  type ConversationWriter,
  conversationOf,
  type Environment,
  type LeftOut,
  LOG_TOOLS,
  placeWritten,
  RESULT_CHARS,
  writerOf,
} from '../../tools/index.js'
import { nowOf, type Parts, pause } from '../parts.js'
import { environmentFor } from '../run/account.js'
import type { Placing } from './fork-conversation.js'
import { importConversation, outputOf } from './import-conversation.js'
import { nothingSaid } from './nothing-said.js'

export interface WriteRequest {
  /** The program that is to go on with it. */
  tool: string
  /** Where that program will be started. */
  cwd: string
  /** The last turn to carry over; all of them by default. */
  through?: number
  /** Of the program that is to go on; the user's usual one by default. */
  account?: string
  /** The id that it shall have; a new one by default. */
  session?: SessionId
  /** `provider/model`, where the program cannot find out by itself what it is to use. */
  model?: string
  signal?: AbortSignal
}

export interface WrittenConversation {
  session: SessionId
  turns: number
  /** Where the words come from. What the archive has is filtered by the privacy policy. */
  from: 'log' | 'archive'
  left_out: LeftOut[]
}

/**
 * Writes the conversation of a session as a log of any tool's own, from the session's log, or from the archive where the log is gone.
 * The program then resumes it as one of its own. The session itself stays as it is.
 */
export async function writeConversation(
  parts: Pick<Parts, 'home' | 'context' | 'environment' | 'runners'>,
  session: Session,
  request: WriteRequest,
  place?: (made: Placing) => void,
): Promise<WrittenConversation> {
  const { logged, from } = await saidIn(parts, session)
  const { through } = request
  const conversation = conversationOf(logged, {
    tool: session.tool ?? 'another tool',
    session: session.id,
    ...(through === undefined ? {} : { through }),
  })
  if (conversation.turns.length === 0) throw nothingSaid(session, from)
  const title = session.title ?? conversation.title
  const named = title === undefined ? conversation : { ...conversation, title }
  const { left_out, ...written } = await placeConversation(parts, named, request, place)
  const filtered = { what: 'words that the privacy policy keeps out of the archive', count: 1 }
  return { ...written, from, left_out: from === 'archive' ? [filtered, ...left_out] : left_out }
}

/** Writes a conversation where the program of a tool finds it as one of its own. */
export async function placeConversation(
  parts: Pick<Parts, 'context' | 'environment' | 'runners'>,
  conversation: Conversation,
  request: Omit<WriteRequest, 'through'>,
  /** Hears of a log before it is written. */
  place: (made: Placing) => void = () => {},
): Promise<Omit<WrittenConversation, 'from'>> {
  const { tool, cwd, account, model, signal } = request
  const writer = writerOf(tool)
  const environment = environmentFor(parts, { tool, cwd, ...(account === undefined ? {} : { account }) })
  const named = model ?? (await modelFor(writer, environment, cwd))
  const target = {
    session: request.session ?? writer.newId(parts.context.random.uuid()),
    cwd,
    environment,
    ...(named === undefined ? {} : { model: named }),
    now: nowOf(parts),
  }
  const written = writer.write(conversation, target)
  const [log] = written.files
  if (log && !written.import && !statOf(log.path)) place({ files: [log.path] })
  const imported = { tool, session: written.session }
  if (written.import)
    await importConversation(logToolOf(tool), written, environment, { signal, place: () => place({ imported }) })
  else placeWritten(logToolOf(tool), written, target.now)
  return { session: written.session, turns: written.turns.length, left_out: written.left_out }
}

/** A store that its program is just writing to cannot be read for a moment; the archive has less than the log. */
const ATTEMPTS = 4
const PAUSE_MS = 150

async function saidIn({ home }: Pick<Parts, 'home'>, { id }: Session) {
  for (let attempt = 1; ; attempt += 1) {
    const logged = await home.history.turns(id, { verbatim: true, resultChars: RESULT_CHARS })
    if (logged.told_from === 'log' || (logged.told_from === 'archive' && attempt >= ATTEMPTS))
      return { logged, from: logged.told_from }
    const isUnread = logged.told_from === 'counts' || logged.told_from === 'journal'
    if (isUnread && attempt >= 2) throw nothingSaid(logged.session, logged.told_from)
    if (isUnread)
      await home.history.ingest({ session: id }) // it was never read
    else await pause(PAUSE_MS)
  }
}

/** The one that the program would use, else the first that it can reach. */
async function modelFor(
  writer: ConversationWriter,
  environment: Environment,
  cwd: string,
): Promise<string | undefined> {
  const known = writer.modelFor?.(environment, cwd)
  if (known !== undefined || !writer.modelList) return known
  const printed = await outputOf(writer.modelList, cwd, environment)
  return printed.split('\n').find((line) => /^[\w.@-]+\/\S+$/.test(line))
}

function logToolOf(tool: string) {
  const found = LOG_TOOLS.find(({ name }) => name === tool)
  if (found) return found
  throw new Error(`no reader of the logs of ${tool}`)
}
