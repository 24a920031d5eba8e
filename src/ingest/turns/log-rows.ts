import { type Instant, laterOf, msOf } from '../../model/index.js'
import { filterText } from '../../privacy/index.js'
import type { Checkpoint, Fact, Resume, SessionNews, UsageRecord } from '../../tools/index.js'
import { collect, usageRecordOf } from '../ledger/usage-record.js'
import { promptTitle } from '../text/prompt-title.js'
import { printedCommits, runsCommands } from './printed-commits.js'

/** A turn as it is stored: when, how long, how it went, and how much, but not what was said. */
export interface TurnRow {
  agent: string
  turn: number
  started_at: Instant | null
  ended_at: Instant | null
  duration_ms: number | null
  outcome: string
  asked_by: string
  follows: number
  copied: number
  compacted: number
  prompt_chars: number
  messages: number
}

export interface ToolCallRow {
  call: string
  agent: string
  turn: number
  name: string
  started_at: Instant | null
  ended_at: Instant | null
  duration_ms: number | null
  /** Null while there is no result. */
  success: number | null
  argument_names: string
  result_chars: number | null
}

/** What was counted in a log. */
export interface CountedRows {
  turns: readonly TurnRow[]
  calls: readonly ToolCallRow[]
}

export function countFacts(tool: string, facts: Iterable<Fact>): CountedRows {
  const rows = new LogRows(tool, undefined)
  for (const fact of facts) rows.add(fact)
  return { turns: [...rows.turns.values()], calls: [...rows.calls.values()] }
}

/** What is already stored of the log, for a reading that goes on where an earlier one stopped. */
export interface KnownRows {
  turn(agent: string, turn: number): TurnRow | undefined
  call(id: string): ToolCallRow | undefined
}

/** What a reading ends with. Without a place to go on from, the log is read from its start the next time: it came from the archive. */
export type ReadingEnd = Pick<Checkpoint, 'counters' | 'head'> & { resume?: Resume | undefined }

type InTurn = Extract<Fact, { turn: number }>

/** The rows that one reading of one log adds or changes. */
export class LogRows {
  readonly turns = new Map<string, TurnRow>()
  readonly calls = new Map<string, ToolCallRow>()
  readonly news: SessionNews = {}
  checkpoint: ReadingEnd | undefined
  /** Everything told before about this log is void. */
  isRestarted = false
  lastAt: Instant | undefined
  /** The turn of the last fact: most facts are of the same one as the fact before. */
  #last: TurnRow | undefined

  /** Of the rows, those that were not known before. */
  readonly added = { turns: 0, calls: 0 }
  /** For the ledger. */
  readonly tellings = new Map<string, UsageRecord>()

  constructor(
    private readonly tool: string,
    private known: KnownRows | undefined,
  ) {}

  add(fact: Fact): void {
    switch (fact.kind) {
      case 'restart':
        this.turns.clear()
        this.calls.clear()
        this.#last = undefined
        this.known = undefined
        this.isRestarted = true
        delete this.news.prompt
        delete this.news.commits
        break
      case 'session': {
        const { kind: _, ...news } = fact
        // What somebody chose the words of; everything else is names and numbers.
        if (news.title !== undefined) news.title = filterText(news.title).text
        if (news.branch !== undefined) news.branch = keptName(news.branch)
        Object.assign(this.news, news)
        break
      }
      case 'checkpoint':
        this.checkpoint = fact
        break
      case 'reported-cost':
        break
      default:
        this.#addToTurn(fact)
    }
  }

  #addToTurn(fact: InTurn): void {
    const row = this.#turn(fact.agent ?? '', fact.turn)
    if (fact.at) {
      row.ended_at = row.ended_at ? laterOf(row.ended_at, fact.at) : fact.at
      this.lastAt = this.lastAt ? laterOf(this.lastAt, fact.at) : fact.at
    }
    switch (fact.kind) {
      case 'turn':
        row.asked_by = fact.by
        row.follows = fact.follows
        row.copied = fact.copied ? 1 : 0
        row.prompt_chars = fact.prompt_chars ?? fact.prompt.length
        if (fact.at) row.started_at = fact.at
        if (fact.by !== 'tool' && !fact.copied && row.agent === '' && this.news.prompt === undefined)
          this.#name(fact.prompt)
        break
      case 'said':
        row.messages += 1
        break
      case 'tool-call': {
        // It went on: a hook asked for more, or the message was written before its calls were.
        if (row.outcome === 'completed') row.outcome = 'open'
        const call = this.#call(fact)
        call.name = keptName(fact.name)
        call.argument_names = JSON.stringify(fact.argument_names ?? Object.keys(fact.arguments).map(keptName))
        if (fact.at) call.started_at = fact.at
        break
      }
      case 'tool-result': {
        const call = this.#call(fact)
        call.result_chars = fact.result_chars ?? fact.result.length
        call.success = (fact.success ?? (call.success === null ? true : call.success === 1)) ? 1 : 0
        if (fact.at) call.ended_at = fact.at
        const span = call.started_at && fact.at ? msOf(fact.at) - msOf(call.started_at) : undefined
        const duration = fact.duration_ms ?? (span !== undefined && span >= 0 ? span : undefined)
        if (duration !== undefined) call.duration_ms = Math.round(duration)
        if (!row.copied && runsCommands(call.name)) this.#noteCommits(fact)
        break
      }
      case 'usage':
        collect(this.tellings, usageRecordOf(this.tool, fact))
        break
      case 'mark':
        if (fact.duration_ms !== undefined) row.duration_ms = Math.round(fact.duration_ms)
        if (fact.mark === 'compacted') row.compacted += 1
        else if (fact.mark !== 'timed') row.outcome = fact.mark
    }
  }

  #name(prompt: string): void {
    const title = promptTitle(prompt)
    if (title !== undefined) this.news.prompt = title
  }

  #noteCommits({ result, at }: Extract<Fact, { kind: 'tool-result' }>): void {
    for (const id of printedCommits(result)) {
      if (this.news.commits?.some((one) => one.id === id)) continue
      this.news.commits = [...(this.news.commits ?? []), { id, ...(at ? { at } : {}) }]
    }
  }

  #turn(agent: string, turn: number): TurnRow {
    if (this.#last?.turn === turn && this.#last.agent === agent) return this.#last
    const key = `${agent}/${turn}`
    let row = this.turns.get(key)
    if (!row) {
      const known = this.known?.turn(agent, turn)
      if (!known) this.added.turns += 1
      row = known ?? newTurn(agent, turn)
      this.turns.set(key, row)
    }
    this.#last = row
    return row
  }

  #call({ call, agent = '', turn }: { call: string; agent?: string | undefined; turn: number }): ToolCallRow {
    let row = this.calls.get(call)
    if (!row) {
      const known = this.known?.call(call)
      if (!known) this.added.calls += 1
      row = known ?? newCall(call, agent, turn)
      this.calls.set(call, row)
    }
    return row
  }
}

const newTurn = (agent: string, turn: number): TurnRow => ({
  agent,
  turn,
  started_at: null,
  ended_at: null,
  duration_ms: null,
  outcome: 'open',
  asked_by: 'tool',
  follows: 0,
  copied: 0,
  compacted: 0,
  prompt_chars: 0,
  messages: 0,
})

const newCall = (call: string, agent: string, turn: number): ToolCallRow => ({
  call,
  agent,
  turn,
  name: '(unknown)',
  started_at: null,
  ended_at: null,
  duration_ms: null,
  success: null,
  argument_names: '[]',
  result_chars: null,
})

/** No secret fits into a short name, and nearly all are short. */
const keptName = (name: string): string => (name.length < 20 ? name : filterText(name).text)
