import type { Prices, SessionHistory } from '../home/index.js'
import { type Instant, type Session, totalTokens, type UsageCall } from '../model/index.js'
import { type Applied, applyTier, DELEGATING_TOOLS, type Policy, redactValue, strictestTool } from '../privacy/index.js'
import type { LoggedToolCall, LoggedTurn } from '../tools/index.js'
import { changedFiles } from './changed-files.js'
import { costOf, type ExportedCost, totalCost } from './exported-cost.js'

/** What an export holds, whatever its format. Everything in it has been filtered for privacy. */
export interface ExportDocument {
  v: 1
  exported_at: Instant
  sessions: ExportedSession[]
  /** Of all sessions in it; absent when nothing is known of any. */
  cost?: ExportedCost
  /** How often each privacy rule was applied to make it. */
  redactions: Applied
}

export interface ExportedSession {
  session: Omit<Session, 'tool_calls'>
  /** False when the log is gone. */
  from_log: boolean
  /** `archive`: what was kept of a log that is gone. `counts`: there are no words, only what was counted when it was read. */
  told_from: SessionHistory['told_from']
  /** Of all its calls of models, sub-agents included, without what it was forked with. Absent when there is no record of any. */
  cost?: ExportedCost
  /** What came before the first prompt, if anything did. */
  before?: ExportedTurn
  turns: ExportedTurn[]
  /** Turns of sub-agents whose starting call is not known. */
  sub_agents: ExportedTurn[]
}

export interface ExportedTurn extends Omit<LoggedTurn, 'tool_calls' | 'usage' | 'follows'> {
  models: string[]
  /** Input, output and cache. */
  tokens: number
  /** Of its own calls of models. Absent where it made none, and in a copied turn, which the session it was copied from paid for. */
  cost?: ExportedCost
  tool_calls: ExportedCall[]
  /** What somebody noted of it. */
  note?: string
}

export interface ExportedCall extends Omit<LoggedToolCall, 'id' | 'arguments' | 'sub_agent'> {
  /** Absent when the policy keeps nothing of them. */
  arguments?: Record<string, unknown>
  /** The files that it changes, where the policy keeps its arguments. */
  paths?: string[]
  sub_agent?: ExportedTurn[]
}

/** A session, and the policy of the directory it worked in. */
export interface ExportSource {
  history: SessionHistory
  policy: Policy
  /** What the ledger has of the session's cost. It counts where neither log nor archive is left. */
  spent?: Pick<ExportedCost, 'calls' | 'micro_usd' | 'unpriced_calls'>
}

interface ExportOptions {
  at: Instant
  /** Without them nothing is said about cost. */
  prices?: Prices
}

/** Filters sessions for privacy once more, because what is exported leaves the machine: tiers per tool, secrets everywhere. */
export function exportDocument(sources: readonly ExportSource[], options: ExportOptions): ExportDocument {
  const applied: Applied = {}
  const sessions = sources.map(({ history, policy, spent }) => {
    const session = new SessionFilter(policy, applied, options.prices).session(history)
    const cost =
      history.told_from === 'counts' ? spent && { ...spent, unpriced_models: [] } : sessionCost(history, options)
    return { ...session, ...(cost && options.prices ? { cost } : {}) }
  })
  // Once over everything: also titles, ids and directories may hold a secret. What is redacted already stays as it is.
  const kept = redactValue(sessions, applied) as ExportedSession[]
  const cost = totalCost(kept.map((one) => one.cost))
  return { v: 1, exported_at: options.at, sessions: kept, ...(cost ? { cost } : {}), redactions: applied }
}

function sessionCost(
  { before, turns, sub_agents }: SessionHistory,
  { prices }: ExportOptions,
): ExportedCost | undefined {
  const usage = [...(before ? [before] : []), ...turns, ...sub_agents].flatMap(ownUsage)
  return prices && usage.length > 0 ? costOf(usage, prices) : undefined
}

/** Of a turn and the sub-agents that it started. What was copied from another session was spent there. */
const ownUsage = (turn: LoggedTurn): UsageCall[] => [
  ...(turn.copied ? [] : turn.usage),
  ...turn.tool_calls.flatMap((call) => (call.sub_agent ?? []).flatMap(ownUsage)),
]

function withNote(turn: ExportedTurn, { turn_marks }: Session): ExportedTurn {
  const note = turn_marks?.find((mark) => mark.turn === turn.number)?.note
  return note === undefined ? turn : { ...turn, note }
}

class SessionFilter {
  constructor(
    private readonly policy: Policy,
    private readonly applied: Applied,
    private readonly prices: Prices | undefined,
  ) {}

  session({ session, news, from_log, told_from, before, turns, sub_agents }: SessionHistory): ExportedSession {
    const title = session.title ?? news.title
    const starters = turns.flatMap((turn) => turn.tool_calls).filter((call) => call.sub_agent !== undefined)
    const tools = [...DELEGATING_TOOLS, ...starters.map((call) => call.name)]
    return {
      session: { ...session, ...(title === undefined ? {} : { title }) },
      from_log,
      told_from,
      ...(before ? { before: this.#turn(before) } : {}),
      turns: turns.map((turn) => withNote(this.#asked(turn, tools), session)),
      // Whose call started them is not known, so the strictest word about any such call counts.
      sub_agents: sub_agents.map((turn) => this.#delegated(turn, tools)),
    }
  }

  /** A turn that the tool itself began tells the result of a sub-agent that worked meanwhile. */
  #asked(turn: LoggedTurn, tools: readonly string[]): ExportedTurn {
    if (turn.by !== 'tool') return this.#turn(turn)
    const { result = '' } = this.#kept({ tool: strictestTool(this.policy, tools, 'result'), result: turn.prompt })
    return { ...this.#turn(turn), prompt: result }
  }

  #turn({ usage, follows: _, tool_calls, ...told }: LoggedTurn): ExportedTurn {
    const cost = this.prices && usage.length > 0 && !told.copied ? costOf(usage, this.prices) : undefined
    return {
      ...told,
      models: [...new Set(usage.map((call) => call.model))],
      tokens: usage.reduce((sum, call) => sum + totalTokens(call), 0),
      ...(cost ? { cost } : {}),
      tool_calls: tool_calls.map((call) => this.#call(call)),
    }
  }

  #call({ id: _, arguments: asked, result, sub_agent, ...told }: LoggedToolCall): ExportedCall {
    const kept = this.#kept({ tool: told.name, arguments: asked, ...(result === undefined ? {} : { result }) })
    const paths = changedFiles({ name: told.name, kept: kept.arguments })
    return {
      ...told,
      ...kept,
      ...(paths.length > 0 ? { paths } : {}),
      ...(sub_agent ? { sub_agent: sub_agent.map((turn) => this.#delegated(turn, [told.name])) } : {}),
    }
  }

  /** A sub-agent's prompt and reply are the argument and the result of the call that started it, so they share its tiers. */
  #delegated(turn: LoggedTurn, tools: readonly string[]): ExportedTurn {
    const { prompt, reply, remarks, ...rest } = this.#turn(turn)
    const asked = this.#kept({ tool: strictestTool(this.policy, tools, 'arguments'), arguments: { prompt } }).arguments
      ?.prompt
    const tool = strictestTool(this.policy, tools, 'result')
    const told = reply === undefined ? {} : this.#kept({ tool, result: reply })
    const said = remarks?.flatMap((remark) => {
      const { result } = this.#kept({ tool, result: remark.text })
      return result === undefined ? [] : [{ ...remark, text: result }]
    })
    return {
      ...rest,
      prompt: typeof asked === 'string' ? asked : '',
      ...(said ? { remarks: said } : {}),
      ...(told.result === undefined ? {} : { reply: told.result }),
    }
  }

  #kept(call: Parameters<typeof applyTier>[0]): Pick<ExportedCall, 'arguments' | 'result'> {
    const { applied, ...kept } = applyTier(call, this.policy)
    for (const [rule, times] of Object.entries(applied)) this.applied[rule] = (this.applied[rule] ?? 0) + times
    return kept
  }
}
