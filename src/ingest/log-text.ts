import type { Instant } from '../model/index.js'
import type { Checkpoint, Fact, SessionNews } from '../tools/index.js'
import type { PassageKind } from './passage.js'

/** A passage as the log tells it: not filtered yet, so it must not be stored. */
export interface RawPassage {
  key: string
  kind: PassageKind
  agent: string
  turn: number
  at: Instant | undefined
  /** Prompts, replies, titles. */
  text: string
  /** Not said by a person: notices of the tool may repeat what a sub-agent told. */
  isNotice?: boolean
  /** Tool calls: what was told of them in this reading. */
  call?: { name: string; arguments: Record<string, unknown> } | undefined
  result?: string | undefined
}

/** The words that one reading of one log adds or changes. */
export class LogText {
  readonly passages = new Map<string, RawPassage>()
  readonly news: SessionNews = {}
  checkpoint: Checkpoint | undefined
  /** Everything told before about this log is void. */
  isRestarted = false
  /** For deciding when there is enough to store. */
  length = 0

  add(fact: Fact): void {
    switch (fact.kind) {
      case 'restart':
        this.passages.clear()
        this.isRestarted = true
        break
      case 'session': {
        const { kind: _, ...news } = fact
        Object.assign(this.news, news)
        if (fact.title)
          this.#put('title', 'titles', { turn: 0, at: fact.started_at ?? this.news.started_at }, fact.title)
        break
      }
      case 'checkpoint':
        this.checkpoint = fact
        break
      case 'turn':
        this.#put(`prompt ${fact.agent ?? ''} ${fact.turn}`, 'prompts', fact, fact.prompt).isNotice = fact.by === 'tool'
        break
      case 'said':
        this.#put(`said ${fact.agent ?? ''} ${fact.message} ${fact.part}`, 'replies', fact, fact.text)
        break
      case 'tool-call': {
        const known = this.passages.get(`call ${fact.call}`)
        const passage = this.#put(`call ${fact.call}`, 'tools', fact, '')
        passage.call = { name: fact.name, arguments: fact.arguments }
        passage.result = known?.result
        break
      }
      case 'tool-result': {
        const passage = this.passages.get(`call ${fact.call}`) ?? this.#put(`call ${fact.call}`, 'tools', fact, '')
        passage.result = fact.result
        this.length += fact.result.length
        break
      }
      default:
        break
    }
  }

  #put(
    key: string,
    kind: PassageKind,
    { agent = '', turn, at }: { agent?: string | undefined; turn: number; at?: Instant | undefined },
    text: string,
  ): RawPassage {
    const passage: RawPassage = { key, kind, agent, turn, at, text }
    this.passages.set(key, passage)
    this.length += text.length
    return passage
  }
}
