import type { Home, NewEvent } from '../../home/index.js'
import type { Instant, SessionId, TurnEnd } from '../../model/index.js'
import { LOG_TOOL_NAMES } from '../../tools/index.js'
import type { AgentRun } from '../agent-run.js'
import { lastTurn, turnEndOf } from '../status/turn-end.js'

/** A change of an agent, with what it says about its turns. */
export interface TurnNews {
  next: AgentRun
  events: Omit<NewEvent, 'agent'>[]
}

/**
 * What a change of an agent's file says about its turns, for the journal: of a program that writes no log there is no other record of them.
 * Said once more, a beginning has the same number, so that a process that is killed between journal and file adds no turn.
 */
export async function turnNews(home: Home, before: AgentRun | undefined, next: AgentRun): Promise<TurnNews> {
  const none: TurnNews = { next, events: [] }
  if (LOG_TOOL_NAMES.includes(next.recipe.tool)) return none
  const [old, now] = [stateOf(before), stateOf(next)]
  const isEnd = now.end !== undefined && now.end.at !== old.end?.at && old.isOpen
  const isNew = now.begun_at !== undefined && now.begun_at !== old.begun_at && !old.isOpen
  if ((!isEnd && !isNew) || (await hasOtherRecord(home, next.recipe.tool))) return none
  const events: TurnNews['events'] = []
  const ended = before?.binding?.session
  if (isEnd && now.end && ended) events.push({ type: 'turn_ended', session: ended, payload: endPayload(next, now.end) })
  const session = next.binding?.session
  if (!isNew || !session) return { next, events }
  const turn = (await countOf(home, next, session)) + 1
  events.push({ type: 'turn_began', session, payload: { agent_id: next.agent, turn, at: now.begun_at } })
  if (!now.isOpen && now.end) events.push({ type: 'turn_ended', session, payload: endPayload(next, now.end) })
  return { next: { ...next, turns: { session, count: turn } }, events }
}

interface TurnState {
  begun_at?: Instant | undefined
  end?: TurnEnd | undefined
  isOpen: boolean
}

/** A program that has ended has ended its turn. */
function stateOf(run: AgentRun | undefined): TurnState {
  if (!run) return { isOpen: false }
  const { told = [], busy_at, run: live } = run
  const turn = lastTurn({ told, busy_at, turn_end: turnEndOf(run), ...(live ? { run: live } : {}) })
  if (!turn.isOpen || live?.ended_at === undefined) return turn
  return { ...turn, end: { at: live.ended_at, how: 'interrupted' }, isOpen: false }
}

const endPayload = ({ agent }: AgentRun, { at, how, reason }: TurnEnd) => ({
  agent_id: agent,
  at,
  how,
  ...(reason === undefined ? {} : { reason }),
})

/** Numbers go on where they were, also when the file of the agent was lost. */
async function countOf(home: Home, { turns }: AgentRun, session: SessionId): Promise<number> {
  if (turns?.session === session) return turns.count
  const begun = await home.events.read({ type: 'turn_began', session })
  return begun.reduce((most, { payload }) => Math.max(most, Number(payload.turn) || 0), 0)
}

/** Its hooks or its log tell more than its screen. */
async function hasOtherRecord(home: Home, tool: string): Promise<boolean> {
  try {
    const [{ described = [] }, { all }] = await Promise.all([home.programs.environment(), home.programs.runners()])
    return described.includes(tool) || all.find(({ name }) => name === tool)?.can.tells === true
  } catch {
    return false // settings that nobody can read must not stop what the agent does
  }
}
