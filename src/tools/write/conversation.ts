import type { Instant, SessionId } from '../../model/index.js'
import type { LoggedSession, LoggedToolCall, LoggedTurn, TurnOutcome } from '../log/turn.js'
import { turnParts } from '../log/turn-parts.js'

/** What was said and done in a session, the same for every tool: the live branch, without thinking and without sub-agents. */
export interface Conversation {
  tool: string
  session: SessionId
  cwd?: string
  title?: string
  model?: string
  started_at?: Instant
  turns: SpokenTurn[]
  /** What the session has and this does not. */
  left_out: LeftOut[]
}

/** One prompt, and what followed until the next. */
export interface SpokenTurn {
  /** As `skein turns` counts. */
  number: number
  prompt: string
  at?: Instant
  ended_at?: Instant
  parts: SpokenPart[]
  outcome: TurnOutcome
  error?: string
}

export type SpokenPart = { kind: 'text'; text: string } | SpokenCall

export interface SpokenCall {
  kind: 'call'
  id: string
  name: string
  input: Record<string, unknown>
  /** Absent when the call was interrupted, or its result is not in the log. */
  result?: { text: string; is_error: boolean; is_shortened: boolean }
}

/** Something that could not be carried over. */
export interface LeftOut {
  what: string
  count: number
}

/** What `clip` leaves behind a text that it shortened. */
const SHORTENED = /… \(\d+ more\)$/
const PICTURE = /^\[(?:image|file|document)\]$/gm

/** The conversation of a session up to and with a turn, all of it by default. */
export function conversationOf(
  logged: Pick<LoggedSession, 'news' | 'turns' | 'before' | 'sub_agents'>,
  { tool, session, through = Number.POSITIVE_INFINITY }: { tool: string; session: SessionId; through?: number },
): Conversation {
  const { cwd, title, model, started_at } = logged.news
  const turns = logged.turns.filter(({ live, number }) => live && number <= through)
  return {
    tool,
    session,
    ...(cwd === undefined ? {} : { cwd }),
    ...(title === undefined ? {} : { title }),
    ...(model === undefined ? {} : { model }),
    ...(started_at === undefined ? {} : { started_at }),
    turns: turns.map(spokenTurn),
    left_out: notCarried(logged, turns),
  }
}

function spokenTurn(turn: LoggedTurn): SpokenTurn {
  const { number, prompt, started_at, ended_at, outcome, error } = turn
  return {
    number,
    prompt,
    ...(started_at === undefined ? {} : { at: started_at }),
    ...(ended_at === undefined ? {} : { ended_at }),
    parts: partsOf(turn),
    outcome,
    ...(error === undefined ? {} : { error }),
  }
}

function partsOf(turn: LoggedTurn): SpokenPart[] {
  const { reply, reply_after_calls = turn.tool_calls.length, remarks = [], tool_calls } = turn
  const said = reply === undefined ? remarks : [...remarks, { text: reply, after_calls: reply_after_calls }]
  return turnParts({ remarks: said, tool_calls }).map((part) =>
    part.kind === 'call' ? spokenCall(part.call) : { kind: 'text', text: part.text },
  )
}

function spokenCall({ id, name, arguments: input, result, success = true }: LoggedToolCall): SpokenCall {
  const call: SpokenCall = { kind: 'call', id, name, input }
  if (result === undefined) return call
  return { ...call, result: { text: result, is_error: !success, is_shortened: SHORTENED.test(result) } }
}

function notCarried(
  { before, sub_agents }: Pick<LoggedSession, 'before' | 'sub_agents'>,
  turns: readonly LoggedTurn[],
): LeftOut[] {
  const calls = turns.flatMap(({ tool_calls }) => tool_calls)
  const pictures = turns.flatMap(({ prompt }) => prompt.match(PICTURE) ?? [])
  const agents = new Set([...calls.flatMap(({ sub_agent = [] }) => sub_agent), ...sub_agents].map(({ agent }) => agent))
  return [
    { what: 'images and files in prompts', count: pictures.length },
    { what: 'conversations of sub-agents', count: agents.size },
    { what: 'summaries of compacted context', count: turns.reduce((sum, { compacted }) => sum + compacted, 0) },
    { what: 'results of tools, shortened', count: calls.filter(({ result = '' }) => SHORTENED.test(result)).length },
    { what: 'messages before the first prompt', count: before?.reply || before?.tool_calls.length ? 1 : 0 },
  ].filter(({ count }) => count > 0)
}
