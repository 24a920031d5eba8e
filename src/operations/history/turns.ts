import type { Home, SessionCode, SessionHistory } from '../../home/index.js'
import type { TurnBranchView } from '../../lifecycle/index.js'
import { type Instant, type Session, SkeinError } from '../../model/index.js'
import type { LoggedToolCall, LoggedTurn } from '../../tools/index.js'
import { flag, optional } from '../field.js'
import { count, text } from '../kind.js'
import { operation } from '../operation.js'
import { SESSION, turnBranchOf } from '../sessions/session-ref.js'
import { onlyStep, STEP } from './only-step.js'
import { type CodeDocument, codeDocument, codeOf, editDocuments, onlyFiles } from './turn-code.js'
import { type TurnCost, turnCost } from './turn-cost.js'
import { type MarkFilter, markOf, onlyMarked } from './turn-filter.js'
import { forksOf, type TurnFork } from './turn-forks.js'

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
    noted: flag('Only turns with a note'),
    note: optional(text('text'), 'Only turns whose note contains this'),
    pinned: flag('Only turns that are pinned'),
  },
  result: 'turns',
  async run({ session, ...asked }, { home }) {
    const opened = await home()
    const shown = await shownTurns(opened, await opened.history.turns(session, { readsNew: true }), asked)
    return turnsDocument(opened, shown, asked.turn !== undefined || asked.files !== undefined)
  },
})

/** Which turns are asked for. */
export interface TurnsAsked extends MarkFilter {
  turn?: number | undefined
  step?: string | undefined
  files?: string | undefined
}

/** Turns with all that is known of them. */
export interface ShownTurns {
  history: SessionHistory
  code: SessionCode
  /** By the number of the turn. */
  costs: ReadonlyMap<number, TurnCost>
  forks: readonly TurnFork[]
}

/** What was asked for of a history, with the code, the cost and the forks of its turns. */
export async function shownTurns(home: Home, told: SessionHistory, asked: TurnsAsked): Promise<ShownTurns> {
  const { turn, step, files } = asked
  const stepped = onlyTurn(onlyStep(told, step), turn)
  const [code, prices, all] = await Promise.all([
    codeOf(home, told),
    home.history.prices(),
    forksOf(home, told.session.id),
  ])
  const touched = onlyFiles(stepped, { ...code, edits: turn === undefined ? code.edits : [] }, files)
  const only = onlyMarked(touched.history, touched.code, asked)
  const costs = new Map<number, TurnCost>()
  for (const one of only.history.turns) {
    const cost = turnCost(one, prices)
    if (cost) costs.set(one.number, cost)
  }
  const isAll = only.history.turns.length === told.turns.length
  const isShown = (fork: TurnFork): boolean => only.history.turns.some(({ number }) => number === fork.turn)
  return { ...only, costs, forks: isAll ? all : all.filter(isShown) }
}

export const turnsDocument = (home: Pick<Home, 'paths'>, shown: ShownTurns, withFiles: boolean) => {
  const { session, from_log, told_from, turns: told, steps, counters } = shown.history
  return {
    session: session.id,
    from_log,
    told_from,
    turns: told.map((turn) => shownTurn(shown, turn, withFiles)),
    edits: editDocuments(shown.code, withFiles),
    forks: shown.forks,
    steps,
    counters,
    ...branchIn(home, session),
  }
}

/** One turn with what it changed, what it has cost, and what was noted of it. */
export function shownTurn({ history, code, costs }: ShownTurns, turn: LoggedTurn, withFiles: boolean) {
  const { note, is_pinned } = markOf(history, turn.number) ?? {}
  return {
    ...turnDocument(turn),
    ...codeIn(code, turn.number, withFiles),
    ...costs.get(turn.number),
    ...(note === undefined ? {} : { note }),
    ...(is_pinned ? { is_pinned } : {}),
  }
}

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
    callsDocument(onlyStep(await (await home()).history.turns(session, { readsNew: true }), step), step),
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
