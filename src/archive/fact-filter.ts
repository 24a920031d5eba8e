import { modelName } from '../model/index.js'
import {
  type Applied,
  addApplied,
  applyTier,
  DELEGATING_TOOLS,
  type FilteredCall,
  filterText,
  keepsWords,
  type Policy,
  strictestTool,
  tiersFor,
} from '../privacy/index.js'
import type { Fact, SessionNews } from '../tools/index.js'

type Of<Kind extends Fact['kind']> = Extract<Fact, { kind: Kind }>

export interface FilterSetup {
  policy: Policy
  /** The whole log is a sub-agent's. */
  isOfSubAgent: boolean
  /** The tool of a call that an earlier reading reported. */
  toolOf: (call: string) => string | undefined
}

/**
 * Makes of what a log says what may be kept of it: no secrets, and of tool calls what the policy allows. Everything that stores
 * words stores these facts, so that nothing has to be filtered twice and nothing can be forgotten. What is left out is still counted.
 */
export class FactFilter {
  /** Which rule was applied how often, by tool; `text` is what people and agents wrote. Never a value. */
  readonly applied = new Map<string, Applied>()
  readonly #tools = new Map<string, string>()
  readonly #news: SessionNews = {}

  constructor(private readonly setup: FilterSetup) {}

  /** Undefined when there is nothing to keep: a fact reported before, or a checkpoint. */
  kept(fact: Fact): Fact | undefined {
    switch (fact.kind) {
      case 'restart':
      case 'checkpoint':
        return undefined
      case 'session':
        return this.#session(fact)
      case 'turn':
        return this.#turn(fact)
      case 'said': {
        const text = this.#isDelegated(fact) ? this.#delegated(fact.text, 'result') : this.#text(fact.text)
        return text === fact.text ? fact : { ...fact, text }
      }
      case 'tool-call':
        return this.#call(fact)
      case 'tool-result':
        return this.#result(fact)
      case 'usage': {
        const model = modelName(fact.usage.model)
        return model === fact.usage.model ? fact : { ...fact, usage: { ...fact.usage, model } }
      }
      case 'mark':
        return fact.detail === undefined ? fact : { ...fact, detail: this.#text(fact.detail) }
      default:
        return fact
    }
  }

  /** Logs say the same about their session again and again. */
  #session({ kind, ...told }: Of<'session'>): Fact | undefined {
    const news: Record<string, unknown> = {}
    for (const [name, value] of Object.entries(told)) {
      const kept = typeof value === 'string' ? this.#word(name, value) : value
      const known = this.#news[name as keyof SessionNews]
      if (value === undefined || kept === known || JSON.stringify(kept) === JSON.stringify(known)) continue
      news[name] = kept
    }
    if (Object.keys(news).length === 0) return undefined
    Object.assign(this.#news, news)
    return { kind, ...news }
  }

  #word(name: string, value: string): string {
    if (name === 'model') return modelName(value)
    return WORDS.has(name) ? this.#text(value) : value
  }

  #turn(fact: Of<'turn'>): Fact {
    const isNotice = fact.by === 'tool'
    const prompt =
      isNotice || this.#isDelegated(fact)
        ? this.#delegated(fact.prompt, isNotice ? 'result' : 'arguments')
        : this.#text(fact.prompt)
    return prompt === fact.prompt ? fact : { ...fact, prompt, prompt_chars: fact.prompt.length }
  }

  #call(fact: Of<'tool-call'>): Fact {
    this.#tools.set(fact.call, fact.name)
    const name = filterText(fact.name).text
    const call = this.#tier({ tool: fact.name, arguments: fact.arguments })
    const kept = settled(call.arguments ?? {})
    if (kept === fact.arguments && name === fact.name) return fact
    const names = Object.keys(fact.arguments)
    const isNamed = names.every((one) => one in kept)
    return { ...fact, name, arguments: kept, ...(isNamed ? {} : { argument_names: keptNames(names) }) }
  }

  #result(fact: Of<'tool-result'>): Fact {
    const tool = this.#tools.get(fact.call) ?? this.setup.toolOf(fact.call) ?? ''
    const { result = '' } = this.#tier({ tool, result: fact.result })
    if (result === fact.result) return fact
    // Written one by one: a literal that first copies a field and then defines it again is made the slow way.
    const kept = { ...fact }
    kept.result = result
    kept.result_chars = fact.result.length
    return kept
  }

  #isDelegated(fact: { agent?: string | undefined }): boolean {
    return this.setup.isOfSubAgent || (fact.agent ?? '') !== ''
  }

  /** Of a sub-agent, whose own log does not say which tool started it. */
  #delegated(text: string, half: 'arguments' | 'result'): string {
    const { policy } = this.setup
    const tool = strictestTool(policy, DELEGATING_TOOLS, half)
    const kept = this.#tier(half === 'result' ? { tool, result: text } : { tool, arguments: { text } })
    if (!keepsWords(tiersFor(policy, tool)[half])) return ''
    return String(kept.result ?? kept.arguments?.text ?? '')
  }

  #text(words: string): string {
    const { text, applied } = filterText(words)
    this.#note('text', applied)
    return text
  }

  #tier(call: Parameters<typeof applyTier>[0]): FilteredCall {
    const kept = applyTier(call, this.setup.policy)
    this.#note(call.tool, kept.applied)
    return kept
  }

  #note(tool: string, applied: Applied): void {
    for (const _ in applied) {
      addApplied(this.applied.get(tool) ?? this.#countFor(filterText(tool).text), applied)
      return
    }
  }

  #countFor(name: string): Applied {
    const known = this.applied.get(name) ?? {}
    this.applied.set(name, known)
    return known
  }
}

/** What a log says of its session in words that somebody chose. Where it worked is needed to find the policy. */
const WORDS = new Set(['title', 'branch'])

const keptNames = (names: readonly string[]): string[] => names.map((name) => filterText(name).text)

/** Lists are looked at once more as a whole: an option and its value may be two items. */
function settled(args: Record<string, unknown>): Record<string, unknown> {
  let changed: Record<string, unknown> | undefined
  for (const [name, value] of Object.entries(args)) {
    if (typeof value !== 'object' || value === null) continue
    const told = JSON.stringify(value)
    const { text } = filterText(told)
    if (text === told) continue
    changed ??= { ...args }
    changed[name] = parsed(text)
  }
  return changed ?? args
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text // a mark went across a quote: the words count, not their shape
  }
}
