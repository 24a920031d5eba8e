import { type Forgetter, PURGED } from '../privacy/index.js'
import type { Fact, Resume, SessionNews } from '../tools/index.js'
import { storablePlace } from './storable-place.js'

/** What was purged from the home and must not come back from the logs, which are not ours to change. */
export interface Oblivion {
  forgetter: Forgetter
  /** Counts purges. What was read under an earlier one is not stored any more. */
  generation: number
  isSessionGone(session: string): boolean
  isLogGone(path: string, part: string): boolean
}

/** Takes what was purged out of what a log tells, and secrets out of the place to go on from. One for each reading of a log. */
export class FactForgetter {
  /** Calls on a path that must be forgotten: their results go with them. */
  readonly #calls = new Set<string>()

  constructor(private readonly forgetter: Forgetter | undefined) {}

  storable(fact: Fact): Fact {
    if (fact.kind === 'checkpoint') return { ...fact, resume: this.place(fact.resume) }
    return this.forgetter ? this.#forgotten(fact, this.forgetter) : fact
  }

  place(resume: Resume): Resume {
    const storable = storablePlace(resume)
    return this.forgetter ? this.#json(storable) : storable
  }

  #forgotten(fact: Fact, forgetter: Forgetter): Fact {
    switch (fact.kind) {
      case 'session': {
        const { kind, ...news } = fact
        const { title, branch, cwd } = this.#json<SessionNews>({
          title: news.title,
          branch: news.branch,
          cwd: news.cwd,
        })
        return { kind, ...news, ...present({ title, branch, cwd }) }
      }
      case 'turn':
        return { ...fact, prompt: this.#text(fact.prompt) }
      case 'said':
        return { ...fact, text: this.#text(fact.text) }
      case 'tool-call': {
        if (forgetter.namesPath(JSON.stringify(fact.arguments))) {
          this.#calls.add(fact.call)
          return { ...fact, arguments: { purged: PURGED } }
        }
        return { ...fact, name: this.#text(fact.name), arguments: this.#json(fact.arguments) }
      }
      case 'tool-result':
        return { ...fact, result: this.#calls.has(fact.call) ? PURGED : this.#text(fact.result) }
      case 'mark':
        return fact.detail === undefined ? fact : { ...fact, detail: this.#text(fact.detail) }
      default:
        return fact
    }
  }

  /** A pattern that takes too long on a text may fit it: then the text is not kept. */
  #text(text: string): string {
    try {
      return this.forgetter?.text(text).value ?? text
    } catch {
      return PURGED
    }
  }

  /** The walk changes texts and names, never the shape. */
  #json<Value extends object>(value: Value): Value {
    try {
      return (this.forgetter?.json(value).value ?? value) as Value
    } catch {
      return {} as Value
    }
  }
}

const present = <Fields extends object>(fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields
