import { TOOL_KINDS } from './default-tiers.js'
import { BUILT_IN, type Policy, verdictFor } from './policy.js'
import type { Tier } from './tier.js'

/** What a policy means in one place, for people who want to know. */
export interface PolicyReport {
  /** The files that have a say, the user's first. */
  files: string[]
  allow_project_looser: boolean
  tools: ToolReport[]
}

export interface ToolReport {
  tool: string
  arguments: Tier
  result: Tier
  /** The file that decided, or `built in`. */
  source: string
  /** The name or glob in it. */
  pattern: string
}

/** Of the tools named; else of one tool of each kind and of whatever the files name. */
export function policyReport(policy: Policy, tools: readonly string[] = toolsToShow(policy)): PolicyReport {
  return {
    files: [...policy.user, ...policy.projects]
      .map((layer) => layer.source)
      .filter((source) => source !== BUILT_IN.source),
    allow_project_looser: policy.allowProjectLooser,
    tools: tools.map((tool) => {
      const { tiers, source, pattern } = verdictFor(policy, tool)
      return { tool, ...tiers, source, pattern }
    }),
  }
}

function toolsToShow(policy: Policy): string[] {
  const kinds = TOOL_KINDS.map(({ names }) => names[0] as string)
  const named = [...policy.user, ...policy.projects]
    .filter((layer) => layer.source !== BUILT_IN.source)
    .flatMap((layer) => Object.keys(layer.tools))
  return [...new Set([...kinds, ...named])]
}
