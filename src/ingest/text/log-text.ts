import { type Instant, laterOf } from '../../model/index.js'
import type { Fact, SessionNews } from '../../tools/index.js'
import type { ReadingEnd } from '../turns/log-rows.js'

/** What one reading of one log says, in its order. Not filtered yet, unless it was read from the archive, so it must not be stored. */
export class LogText {
  readonly facts: Fact[] = []
  readonly news: SessionNews = {}
  checkpoint: ReadingEnd | undefined
  /** Everything told before about this log is void. */
  isRestarted = false
  lastAt: Instant | undefined
  /** For deciding when there is enough to store. */
  length = 0

  add(fact: Fact): void {
    switch (fact.kind) {
      case 'restart':
        this.facts.length = 0
        this.length = 0
        this.isRestarted = true
        return
      case 'checkpoint':
        this.checkpoint = fact
        return
      case 'session': {
        const { kind: _, ...news } = fact
        Object.assign(this.news, news)
        break
      }
      case 'turn':
        this.length += fact.prompt.length
        break
      case 'said':
        this.length += fact.text.length
        break
      case 'tool-result':
        this.length += fact.result.length
        break
      default:
        break
    }
    if ('turn' in fact && fact.at) this.lastAt = this.lastAt ? laterOf(this.lastAt, fact.at) : fact.at
    this.facts.push(fact)
  }
}
