import { type Forgetter, PURGED } from '../privacy/index.js'
import type { Fact, Resume, SessionNews } from '../tools/index.js'
import { storablePlace } from './storable-place.js'

/** The arguments of a call on a path that must be forgotten. In the text they are `PURGED_CALL_TEXT`. */
const PURGED_CALL = { purged: PURGED }

/** Takes what was purged out of what a log tells, and secrets out of the place to go on from. One for each reading of a log. */
export class FactForgetter {
  /** Calls on a path that must be forgotten: their results go with them. */
  readonly #calls = new Set<string>()

  /** `wasPurged` knows of calls that an earlier reading told. */
  constructor(
    private readonly forgetter: Forgetter | undefined,
    private readonly wasPurged: (call: string) => boolean = () => false,
  ) {}

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
        return this.#turn(fact)
      case 'said':
        return { ...fact, text: this.#text(fact.text) }
      case 'tool-call':
        return this.#call(fact, forgetter)
      case 'tool-result':
        return this.#result(fact)
      case 'mark':
        return fact.detail === undefined ? fact : { ...fact, detail: this.#text(fact.detail) }
      default:
        return fact
    }
  }

  // What is left out is still counted, as it is when a policy leaves it out.

  #turn(fact: Of<'turn'>): Fact {
    const prompt = this.#text(fact.prompt)
    return prompt === fact.prompt ? fact : { ...fact, prompt, prompt_chars: fact.prompt_chars ?? fact.prompt.length }
  }

  #result(fact: Of<'tool-result'>): Fact {
    const isOnPath = this.#calls.has(fact.call) || this.wasPurged(fact.call)
    const result = isOnPath ? PURGED : this.#text(fact.result)
    return result === fact.result ? fact : { ...fact, result, result_chars: fact.result_chars ?? fact.result.length }
  }

  #call(fact: Of<'tool-call'>, forgetter: Forgetter): Fact {
    const isOnPath = forgetter.namesPath(JSON.stringify(fact.arguments))
    if (isOnPath) this.#calls.add(fact.call)
    const name = this.#text(fact.name)
    const args = isOnPath ? PURGED_CALL : this.#json(fact.arguments, 'arguments')
    if (name === fact.name && args === fact.arguments) return fact
    const names = fact.argument_names ?? Object.keys(fact.arguments)
    return { ...fact, name, arguments: args, argument_names: names.map((one) => this.#text(one)) }
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
  #json<Value extends object>(value: Value, name = ''): Value {
    try {
      return (this.forgetter?.json(value, name).value ?? value) as Value
    } catch {
      return {} as Value
    }
  }
}

type Of<Kind extends Fact['kind']> = Extract<Fact, { kind: Kind }>

const present = <Fields extends object>(fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields
