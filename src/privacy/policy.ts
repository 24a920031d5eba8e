import { matchesPattern } from '../model/index.js'
import { TOOL_KINDS, UNKNOWN_TOOL } from './default-tiers.js'
import { type CallTiers, stricterTiers } from './tier.js'

/** What one file says, or what is built in: tiers by the name of a tool or a glob of names. */
export interface PolicyLayer {
  /** A file, or `built in`. */
  readonly source: string
  readonly tools: Readonly<Record<string, CallTiers>>
}

/** The user's word, and what projects add to it. */
export interface Policy {
  /** Later ones come first: the user's file, then what is built in. */
  readonly user: readonly PolicyLayer[]
  /** The outermost directory first. */
  readonly projects: readonly PolicyLayer[]
  /** The user lets projects keep more than the user would. */
  readonly allowProjectLooser: boolean
}

/** The tiers for a tool, and where each word about it comes from. */
export interface Verdict {
  readonly tiers: CallTiers
  /** The layer that decided, and the name or glob in it. */
  readonly source: string
  readonly pattern: string
}

export const BUILT_IN: PolicyLayer = {
  source: 'built in',
  tools: Object.fromEntries(TOOL_KINDS.flatMap(({ names, tiers }) => names.map((name) => [name, tiers]))),
}
export const DEFAULT_PRIVACY: Policy = { user: [BUILT_IN], projects: [], allowProjectLooser: false }

/** What is kept of this tool's calls. A project's word counts where it is stricter, or where the user allows more. */
export function verdictFor(policy: Policy, tool: string): Verdict {
  const users = firstMatch(policy.user, tool) ?? { tiers: UNKNOWN_TOOL, source: BUILT_IN.source, pattern: '*' }
  return policy.projects.reduce((verdict: Verdict, layer) => {
    const projects = match(layer, tool)
    if (projects === undefined) return verdict
    if (policy.allowProjectLooser) return projects
    const tiers = stricterTiers(verdict.tiers, projects.tiers)
    const isSame = tiers.arguments === verdict.tiers.arguments && tiers.result === verdict.tiers.result
    return isSame ? verdict : { ...projects, tiers }
  }, users)
}

/** Remembered per policy: logs name the same few tools again and again. */
export function tiersFor(policy: Policy, tool: string): CallTiers {
  let known = KNOWN_TIERS.get(policy)
  if (!known) {
    known = new Map()
    KNOWN_TIERS.set(policy, known)
  }
  let tiers = known.get(tool)
  if (!tiers) {
    tiers = verdictFor(policy, tool).tiers
    if (known.size < MOST_TOOLS) known.set(tool, tiers)
  }
  return tiers
}

const KNOWN_TIERS = new WeakMap<Policy, Map<string, CallTiers>>()
/** A log may name any number of tools. */
const MOST_TOOLS = 1_000

function firstMatch(layers: readonly PolicyLayer[], tool: string): Verdict | undefined {
  for (const layer of layers) {
    const found = match(layer, tool)
    if (found) return found
  }
  return undefined
}

/** The name itself, else the longest glob that fits. */
function match({ source, tools }: PolicyLayer, tool: string): Verdict | undefined {
  const globs = Object.keys(tools).filter((pattern) => pattern.includes('*') && matchesPattern(tool, pattern))
  const pattern = Object.hasOwn(tools, tool)
    ? tool
    : globs.reduce((best, one) => (one.length > best.length ? one : best), '')
  const tiers = pattern === '' ? undefined : tools[pattern]
  return tiers && { tiers, source, pattern }
}
