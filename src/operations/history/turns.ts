import type { Home, SessionCode, SessionHistory } from '../../home/index.js'
import type { TurnBranchView } from '../../lifecycle/index.js'
import { type Instant, type Session, SkeinError } from '../../model/index.js'
import type { LoggedToolCall, LoggedTurn } from '../../tools/index.js'
import { optional } from '../field.js'
import { count, text } from '../kind.js'
import { operation } from '../operation.js'
import { SESSION, turnBranchOf } from '../sessions/show.js'
import { onlyStep, STEP } from './only-step.js'
import { type CodeDocument, codeDocument, codeOf, editDocuments, onlyFiles } from './turn-code.js'

export const turns = operation({
  name: 'turns',
  does: 'reads',
  where: 'either',
  summary: "Show a session's turns",
  description:
    "Reads the tool's own log, or the archive if the tool has deleted it. Secrets are redacted, and tool calls are shown as the privacy policy allows.",
  input: {
    session: SESSION,
    turn: optional(count, 'Only this turn, in full'),
    step: STEP,
    files: optional(
      text('path'),
      'Only turns that changed this file or something in this directory, by its path in the repository',
    ),
  },
  result: 'turns',
  async run({ session, turn, step, files }, { home }) {
    const opened = await home()
    const { history, code } = await turnsWithCode(opened, await opened.history.turns(session), { turn, step, files })
    return turnsDocument(opened, history, code, turn !== undefined || files !== undefined)
  },
})

/** What was asked for of a history, with the code of its turns. */
export async function turnsWithCode(
  home: Home,
  told: SessionHistory,
  { turn, step, files }: { turn?: number | undefined; step?: string | undefined; files?: string | undefined },
): Promise<{ history: SessionHistory; code: SessionCode }> {
  const history = onlyTurn(onlyStep(told, step), turn)
  const code = await codeOf(home, told)
  const edits = turn === undefined ? code.edits : []
  return onlyFiles(history, { ...code, edits }, files)
}

export const turnsDocument = (
  home: Pick<Home, 'paths'>,
  { session, from_log, told_from, turns: told, steps, counters }: SessionHistory,
  code: SessionCode,
  withFiles: boolean,
) => ({
  session: session.id,
  from_log,
  told_from,
  turns: told.map((turn) => ({ ...turnDocument(turn), ...codeIn(code, turn.number, withFiles) })),
  edits: editDocuments(code, withFiles),
  steps,
  counters,
  ...branchIn(home, session),
})

function branchIn(home: Pick<Home, 'paths'>, session: Session): { turn_branch?: TurnBranchView } {
  const branch = turnBranchOf(home, session)
  return branch ? { turn_branch: branch } : {}
}

function codeIn({ turns: changed }: SessionCode, number: number, withFiles: boolean): Partial<CodeDocument> {
  const change = changed.get(number)
  return change ? codeDocument(change, withFiles) : {}
}

/** A tool call with the names that scripts of other programs know, beside ours. */
export interface NamedCall {
  tool: string
  timestamp?: Instant
}

const namesOf = ({ name, started_at }: LoggedToolCall): NamedCall => ({
  tool: name,
  ...(started_at === undefined ? {} : { timestamp: started_at }),
})

export type TurnDocument = Omit<LoggedTurn, 'tool_calls'> & { tool_calls: CallDocument[] }
export type CallDocument = Omit<LoggedToolCall, 'sub_agent'> & NamedCall & { sub_agent?: TurnDocument[] }

const turnDocument = (turn: LoggedTurn): TurnDocument => ({
  ...turn,
  tool_calls: turn.tool_calls.map(({ sub_agent, ...call }) => ({
    ...call,
    ...namesOf(call),
    ...(sub_agent ? { sub_agent: sub_agent.map(turnDocument) } : {}),
  })),
})

/** The history with one turn alone, or as it is when no turn is asked for. */
export function onlyTurn(history: SessionHistory, number: number | undefined): SessionHistory {
  if (number === undefined) return history
  const found = history.turns.filter((turn) => turn.number === number)
  if (found.length > 0) return { ...history, turns: found }
  const last = history.turns.at(-1)?.number
  const size = history.turns.length === 1 ? '1 turn' : `${history.turns.length} turns`
  const known = last === undefined ? 'It has no turns' : `It has ${size}, the last is ${last}`
  const id = history.session.id.slice(0, 8)
  throw new SkeinError('bad-input', `Session ${id} has no turn ${number}`, `${known}: skein turns ${id}`)
}

export const tools = operation({
  name: 'tools',
  does: 'reads',
  where: 'either',
  summary: "Show a session's tool calls",
  description: 'Secrets are redacted, and arguments and results are shown as the privacy policy allows.',
  input: { session: SESSION, step: STEP },
  result: 'tool-calls',
  run: async ({ session, step }, { home }) =>
    callsDocument(onlyStep(await (await home()).history.turns(session), step), step),
})

export const callsDocument = (history: SessionHistory, step?: string) => ({
  session: history.session.id,
  from_log: history.from_log,
  told_from: history.told_from,
  tool_calls: toolCallsOf(history).filter(({ step_ref }) => step === undefined || step_ref === step),
})

/** A tool call where it happened: in which turn, and how deep inside sub-agents. */
export interface PlacedToolCall extends Omit<LoggedToolCall, 'sub_agent'>, NamedCall {
  turn: number
  /** The sub-agent that called it. */
  agent?: string
  depth: number
}

function toolCallsOf({ turns: told, before, sub_agents }: SessionHistory): PlacedToolCall[] {
  return [...(before ? [before] : []), ...told, ...sub_agents].flatMap((turn) => callsIn(turn, turn.number, 0))
}

/** Calls of sub-agents belong to the turn of the call that started them. */
function callsIn(turn: LoggedTurn, number: number, depth: number): PlacedToolCall[] {
  return turn.tool_calls.flatMap(({ sub_agent, ...call }) => [
    { ...call, ...namesOf(call), turn: number, ...(turn.agent ? { agent: turn.agent } : {}), depth },
    ...(sub_agent ?? []).flatMap((inner) => callsIn(inner, number, depth + 1)),
  ])
}
