import type { Instant, UsageCall } from '../../model/index.js'
import type { Counters } from './counters.js'
import type { PromptBy, SessionNews } from './fact.js'

/** How a turn ended. `open`: its log does not say; it may still be running, or its writer died. */
export type TurnOutcome = 'completed' | 'aborted' | 'failed' | 'open'

/** One prompt up to its final reply, the same for every tool. */
export interface LoggedTurn {
  number: number
  agent?: string
  prompt: string
  by: PromptBy
  /** What the agent said on its way, before the reply. */
  remarks?: Remark[]
  /** The words after which the agent stopped: its last message that has any. */
  reply?: string
  /** How many calls of the turn had been made by then, where that is not all of them: no words came after the others. */
  reply_after_calls?: number
  started_at?: Instant
  ended_at?: Instant
  duration_ms?: number
  outcome: TurnOutcome
  /** Why it failed, in the tool's words. */
  error?: string
  /** How often the context was summarised within it. */
  compacted: number
  /** The turn it comes after. */
  follows: number
  /** On the branch on which the conversation would go on. */
  live: boolean
  /** Part of the history this session was forked with. */
  copied: boolean
  tool_calls: LoggedToolCall[]
  /** Calls of the model, each once, in order. Those of sub-agents are in their own turns. */
  usage: UsageCall[]
}

/** Words between the calls of a turn, in their order. */
export interface Remark {
  text: string
  /** How many calls of the turn had been made by then. */
  after_calls: number
}

export interface LoggedToolCall {
  id: string
  name: string
  arguments: Record<string, unknown>
  result?: string
  /** Absent while there is no result. */
  success?: boolean
  started_at?: Instant
  ended_at?: Instant
  duration_ms?: number
  /** The step of the work that was open when it was made. */
  step_ref?: string
  /** The turns of the sub-agent that it started. */
  sub_agent?: LoggedTurn[]
}

/** A whole session, as its logs tell it. */
export interface LoggedSession {
  news: SessionNews
  turns: LoggedTurn[]
  /** What came before the first prompt, if anything did. */
  before?: LoggedTurn
  /** Sub-agents whose starting call is not known. */
  sub_agents: LoggedTurn[]
  reported_cost_usd?: number
  /** One per log: the session's own first. */
  counters: Counters[]
}

/** A turn of which nothing is known yet. */
export const emptyTurn = (number: number, by: LoggedTurn['by']): LoggedTurn => ({
  number,
  prompt: '',
  by,
  outcome: 'open',
  compacted: 0,
  follows: 0,
  live: true,
  copied: false,
  tool_calls: [],
  usage: [],
})
