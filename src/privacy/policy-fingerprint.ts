import { createHash } from 'node:crypto'
import type { Policy, PolicyLayer } from './policy.js'
import { RULES } from './secrets/find-secrets.js'

/**
 * Stands for everything that decides what is kept of a text: the tiers of every tool and the rules for secrets. Two policies with the
 * same fingerprint keep the same; the files they come from do not matter.
 */
export function policyFingerprint(policy: Policy): string {
  let known = KNOWN.get(policy)
  if (known === undefined) {
    const said = JSON.stringify([tiersIn(policy.user), tiersIn(policy.projects), policy.allowProjectLooser, rules()])
    known = createHash('sha256').update(said).digest('hex').slice(0, 16)
    KNOWN.set(policy, known)
  }
  return known
}

const KNOWN = new WeakMap<Policy, string>()

/** A layer that says nothing decides nothing. */
const tiersIn = (layers: readonly PolicyLayer[]): unknown =>
  layers
    .map(({ tools }) =>
      Object.keys(tools)
        .sort()
        .map((name) => [name, tools[name]?.arguments, tools[name]?.result]),
    )
    .filter((tools) => tools.length > 0)

/** Raised when texts are read in another way: what was kept before may have to be filtered again. */
const READING = 2

let ruleNames: string | undefined
function rules(): string {
  ruleNames ??= JSON.stringify([READING, ...RULES.map(({ name, anchors }) => [name, anchors.length])])
  return ruleNames
}
