import { isDeepStrictEqual } from 'node:util'
import { type SessionId, SkeinError } from '../../model/index.js'
import { foldSession } from '../log/fold.js'
import type { LogRef, LogTool } from '../log/log-tool.js'
import { conversationOf, type SpokenPart, type SpokenTurn } from './conversation.js'
import { WRITTEN_RESULT_CHARS } from './dialect.js'

/** Refuses a written log that does not read as the conversation that was to be written: its program would lose the same turns. */
export function refuseMisread(tool: LogTool, log: LogRef, session: SessionId, turns: readonly SpokenTurn[]): void {
  const logged = foldSession([tool.read(log, { resultChars: WRITTEN_RESULT_CHARS })])
  const read = conversationOf(logged, { tool: tool.name, session }).turns
  const at = turns.findIndex((turn, index) => !isDeepStrictEqual(essenceOf(turn), essenceOf(read[index])))
  const isWhole = at < 0 && read.length === turns.length && logged.news.id === session
  if (isWhole) return
  const where = at >= 0 ? `turn ${at + 1} differs` : `it has ${read.length} turns in place of ${turns.length}`
  throw new SkeinError(
    'illegal-transition',
    `The conversation was not written: as a log of ${tool.name} it reads otherwise (${where})`,
    `Please report it, with: skein export ${session}`,
  )
}

/** What a turn says, without its number and times. */
function essenceOf(turn: SpokenTurn | undefined): unknown {
  return turn && { prompt: turn.prompt, parts: turn.parts.map(essenceOfPart) }
}

function essenceOfPart(part: SpokenPart): unknown {
  if (part.kind === 'text') return part.text
  const { id, name, input, result } = part
  return { id, name, input, result: result && { text: result.text, is_error: result.is_error } }
}
