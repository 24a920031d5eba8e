import { FactFilter, type FilterSetup } from '../../archive/index.js'
import { tiersFor } from '../../privacy/index.js'
import type { Fact } from '../../tools/index.js'

/** Filters facts that were filtered under another policy. What was counted of the words before stays counted. */
export function refilteredFacts(setup: FilterSetup): (fact: Fact) => Fact | undefined {
  const filter = new FactFilter(setup)
  return (fact) => {
    if (
      fact.kind === 'tool-call' &&
      tiersFor(setup.policy, fact.name).arguments === 'metadata' &&
      isMetadata(fact.arguments)
    ) {
      return fact // of the names and types of arguments the names and types would be all texts
    }
    const kept = filter.kept(fact)
    if (!kept || kept === fact) return kept
    if (kept.kind === 'turn' && fact.kind === 'turn')
      return { ...kept, prompt_chars: fact.prompt_chars ?? kept.prompt_chars }
    if (kept.kind === 'tool-result' && fact.kind === 'tool-result')
      return { ...kept, result_chars: fact.result_chars ?? kept.result_chars }
    if (kept.kind === 'tool-call' && fact.kind === 'tool-call')
      return { ...kept, argument_names: fact.argument_names ?? kept.argument_names }
    return same(kept, fact) ? fact : kept
  }
}

const TYPE_MARK = /^\[(?:string|number|boolean|object|array|null)\]$/
const isMetadata = (args: Record<string, unknown>): boolean =>
  Object.values(args).every((value) => typeof value === 'string' && TYPE_MARK.test(value))

const same = (a: Fact, b: Fact): boolean => JSON.stringify(a) === JSON.stringify(b)
