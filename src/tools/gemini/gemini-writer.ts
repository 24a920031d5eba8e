import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { parseSessionId } from '../../model/index.js'
import { isUuid } from '../log/log-files.js'
import type { SpokenTurn } from '../write/conversation.js'
import { type Dialect, inDialect } from '../write/dialect.js'
import { beginningOf, type ConversationWriter, linesOf, MadeIds, RisingClock, type Written } from '../write/writer.js'
import { homeOf } from './gemini-home.js'
import { newProjectFolder } from './gemini-project.js'

const DIALECT: Dialect = {
  tool: 'gemini',
  // Calls are written as text: it sends every result once more with each resume.
  // A prompt that looks like a command is not sent again; the others are notes of its own in the log.
  reserved: /^\s*(?:[/?]|<hook_context>|<session_context>)/,
  mostChars: 2_000_000,
  callId: (hex) => hex,
}

/** Gemini CLI's chat file: a header, then messages. It finds the file by the folder of the project and the beginning of the id. */
export const geminiWriter: ConversationWriter = {
  tool: DIALECT.tool,
  newId: parseSessionId,
  takes: isUuid,
  write(conversation, target) {
    const { session, cwd, environment, now } = target
    const ids = new MadeIds(session)
    const { turns, left_out } = inDialect(conversation, DIALECT, () => ids.hex(32))
    const began = beginningOf(conversation, now)
    const clock = new RisingClock(began)
    const header = {
      sessionId: session,
      projectHash: createHash('sha256').update(cwd).digest('hex'),
      startTime: clock.at(),
      lastUpdated: now,
      kind: 'main',
      ...(conversation.title ? { summary: conversation.title.toWellFormed() } : {}),
    }
    const messages = turns.flatMap((turn) => messagesOf(turn, ids, clock))
    const folder = newProjectFolder(join(homeOf(environment), '.gemini'), cwd)
    const name = `session-${began.slice(0, 16).replace(':', '-')}-${session.slice(0, 8)}.jsonl`
    return {
      session,
      files: [
        { path: join(folder, 'chats', name), content: linesOf([header, ...messages]) },
        { path: join(folder, '.project_root'), content: cwd },
      ],
      turns,
      left_out,
    } satisfies Written
  },
}

function messagesOf({ prompt, at, ended_at, parts }: SpokenTurn, ids: MadeIds, clock: RisingClock): object[] {
  const asked = { id: ids.uuid(), timestamp: clock.at(at), type: 'user', content: [{ text: prompt }] }
  const replies = parts.map((part, index) => ({
    id: ids.uuid(),
    timestamp: clock.at(index === parts.length - 1 ? ended_at : undefined),
    type: 'gemini',
    content: part.kind === 'text' ? part.text : '',
  }))
  return [asked, ...replies]
}
