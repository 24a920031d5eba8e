import { largerUsage, type UsageCall } from '../../model/index.js'
import type { Fact, SessionNews } from './fact.js'
import { spanMs } from './moment.js'
import { emptyTurn, type LoggedSession, type LoggedToolCall, type LoggedTurn } from './turn.js'

type InTurnFact = Extract<Fact, { turn: number }>

/** A turn while it is being put together. */
interface Draft {
  turn: LoggedTurn
  /** Texts by message and part, in the order they first appeared, and the calls that had been made by then. */
  said: Map<string, { parts: Map<string, string>; after_calls: number }>
}

/** Puts the facts of a session's logs together into turns. The session's own log comes first, sub-agents' after it. */
export function foldSession(logs: Iterable<Iterable<Fact>>): LoggedSession {
  const fold = new SessionFold()
  for (const facts of logs) {
    fold.beginLog()
    for (const fact of facts) fold.add(fact)
  }
  return fold.session()
}

class SessionFold {
  #news: SessionNews = {}
  #drafts = new Map<string, Draft>()
  #calls = new Map<string, LoggedToolCall>()
  #usage = new Map<string, { owner: LoggedTurn; usage: UsageCall }>()
  /** Which call started which sub-agent. */
  #startedBy = new Map<string, string>()
  #abandoned = new Set<number>()
  #reported: number | undefined
  #counters: LoggedSession['counters'] = []
  #log = -1

  beginLog(): void {
    this.#log += 1
  }

  add(fact: Fact): void {
    switch (fact.kind) {
      case 'restart':
        this.#forget()
        break
      case 'session':
        this.#addNews(fact)
        break
      case 'checkpoint':
        this.#counters[this.#log] = fact.counters
        if (this.#log === 0) this.#abandoned = new Set(fact.head.abandoned)
        break
      case 'reported-cost':
        this.#reported = Math.max(fact.cost_usd, this.#reported ?? 0)
        break
      default:
        this.#addToTurn(fact)
    }
  }

  session(): LoggedSession {
    for (const { owner, usage } of this.#usage.values()) owner.usage.push(usage)
    const drafts = [...this.#drafts.values()]
    const turns = drafts.map((draft) => this.#finished(draft)).sort((a, b) => a.number - b.number)
    const main = turns.filter((turn) => turn.agent === undefined)
    const before = main.find((turn) => turn.number === 0)
    return {
      news: this.#news,
      turns: main.filter((turn) => turn.number > 0),
      ...(before ? { before } : {}),
      sub_agents: this.#nest(turns.filter((turn) => turn.agent !== undefined)),
      ...(this.#reported === undefined ? {} : { reported_cost_usd: this.#reported }),
      counters: this.#counters,
    }
  }

  #forget(): void {
    this.#drafts.clear()
    this.#calls.clear()
    this.#usage.clear()
  }

  #addNews({ kind: _, ...news }: Extract<Fact, { kind: 'session' }>): void {
    if (news.spawner?.call) this.#startedBy.set(news.spawner.agent, news.spawner.call)
    if (this.#log <= 0) Object.assign(this.#news, news)
  }

  #addToTurn(fact: InTurnFact): void {
    const draft = this.#draft(fact)
    const { turn } = draft
    if (fact.at && (!turn.ended_at || fact.at > turn.ended_at)) turn.ended_at = fact.at
    switch (fact.kind) {
      case 'turn':
        Object.assign(turn, { prompt: fact.prompt, by: fact.by, follows: fact.follows, copied: fact.copied ?? false })
        if (fact.at) turn.started_at = fact.at
        if (fact.agent && fact.spawned_by) this.#startedBy.set(`${fact.agent}/${fact.turn}`, fact.spawned_by)
        break
      case 'said': {
        const message = draft.said.get(fact.message) ?? { parts: new Map(), after_calls: turn.tool_calls.length }
        message.parts.set(fact.part, fact.text)
        draft.said.set(fact.message, message)
        break
      }
      case 'tool-call': {
        // It went on: a hook asked for more, or the message was written before its calls were.
        if (turn.outcome === 'completed') turn.outcome = 'open'
        const call = this.#call(fact.call, turn)
        Object.assign(call, { name: fact.name, arguments: fact.arguments }, fact.at ? { started_at: fact.at } : {})
        break
      }
      case 'tool-result':
        this.#addResult(fact, turn)
        break
      case 'usage': {
        const known = this.#usage.get(fact.usage.message_id)
        if (known) known.usage = atEarlier(largerUsage(known.usage, fact.usage), known.usage)
        else this.#usage.set(fact.usage.message_id, { owner: turn, usage: fact.usage })
        break
      }
      case 'mark':
        addMark(turn, fact)
    }
  }

  #addResult(fact: Extract<Fact, { kind: 'tool-result' }>, turn: LoggedTurn): void {
    const call = this.#call(fact.call, turn)
    call.result = fact.result
    call.success = fact.success ?? call.success ?? true
    if (fact.at) call.ended_at = fact.at
    const duration = fact.duration_ms ?? spanMs(call.started_at, fact.at)
    if (duration !== undefined) call.duration_ms = duration
    if (fact.agent_started) this.#startedBy.set(fact.agent_started, fact.call)
  }

  #draft(fact: InTurnFact): Draft {
    const key = `${fact.agent ?? ''}/${fact.turn}`
    let draft = this.#drafts.get(key)
    if (!draft) {
      draft = {
        said: new Map(),
        turn: { ...emptyTurn(fact.turn, 'tool'), ...(fact.agent ? { agent: fact.agent } : {}) },
      }
      this.#drafts.set(key, draft)
    }
    return draft
  }

  #call(id: string, turn: LoggedTurn): LoggedToolCall {
    let call = this.#calls.get(id)
    if (!call) {
      call = { id, name: '(unknown)', arguments: {} }
      this.#calls.set(id, call)
      turn.tool_calls.push(call)
    }
    return call
  }

  #finished({ turn, said }: Draft): LoggedTurn {
    const told = [...said.values()].map(({ parts, after_calls }) => ({
      text: [...parts.values()].join('\n'),
      after_calls,
    }))
    const last = told.pop()
    const reply = last?.text ?? ''
    const remarks = told.filter(({ text }) => text !== '')
    if (remarks.length > 0) turn.remarks = remarks
    if (reply !== '') turn.reply = reply
    if (last && reply !== '' && last.after_calls < turn.tool_calls.length) turn.reply_after_calls = last.after_calls
    const duration = turn.duration_ms ?? spanMs(turn.started_at, turn.ended_at)
    if (duration !== undefined) turn.duration_ms = duration
    if (turn.agent === undefined) turn.live = !this.#abandoned.has(turn.number)
    return turn
  }

  /** Hangs sub-agents under the calls that started them; returns those that nobody started. */
  #nest(turns: LoggedTurn[]): LoggedTurn[] {
    return turns.filter((turn) => {
      const agent = turn.agent ?? ''
      const call = this.#calls.get(this.#startedBy.get(`${agent}/${turn.number}`) ?? this.#startedBy.get(agent) ?? '')
      if (!call) return true
      call.sub_agent = [...(call.sub_agent ?? []), turn]
      return false
    })
  }
}

/** A call is created when it is first mentioned. */
const atEarlier = (usage: UsageCall, before: UsageCall): UsageCall =>
  before.ts < usage.ts ? { ...usage, ts: before.ts } : usage

function addMark(turn: LoggedTurn, fact: Extract<Fact, { kind: 'mark' }>): void {
  if (fact.duration_ms !== undefined) turn.duration_ms = fact.duration_ms
  if (fact.mark === 'timed') return
  if (fact.mark === 'compacted') {
    turn.compacted += 1
    return
  }
  turn.outcome = fact.mark
  if (fact.mark === 'failed' && fact.detail) turn.error = fact.detail
}
