import { type ToolCall, unreachable } from '../model/index.js'
import { type Policy, tiersFor } from './policy.js'
import { type Applied, count, redactInto, redactValue } from './redact.js'
import { redactCommandText } from './secrets/command-text.js'
import type { Tier } from './tier.js'

/** What may be kept of a call, and which rules made it so. */
export interface FilteredCall {
  arguments?: Record<string, unknown>
  result?: string
  applied: Applied
}

type CallContent = Pick<ToolCall, 'tool' | 'arguments' | 'result'>

/** Filters a tool call by the policy. Secrets go whatever the tier says. */
export function applyTier(call: CallContent, policy: Policy): FilteredCall {
  const tiers = tiersFor(policy, call.tool)
  const applied: Applied = {}
  const kept: FilteredCall = { applied }
  const args = call.arguments && keptArguments(call.arguments, tiers.arguments, applied)
  if (args) kept.arguments = args
  const result = call.result === undefined ? undefined : keptText(call.result, tiers.result, applied)
  if (result !== undefined) kept.result = result
  return kept
}

/** Text that no tool owns: prompts, replies, titles. Only secrets go. */
export function filterText(text: string): { text: string; applied: Applied } {
  const applied: Applied = {}
  return { text: redactInto(text, applied), applied }
}

function keptArguments(
  args: Record<string, unknown>,
  tier: Tier,
  applied: Applied,
): Record<string, unknown> | undefined {
  switch (tier) {
    case 'full':
      return asRecord(redactValue(args, applied))
    case 'redacted': {
      const redacted = redactValue(args, applied)
      return asRecord(eachString(redacted, (text) => redactCommandText(text, applied, redacted === args)))
    }
    case 'metadata':
      count(applied, 'metadata-only')
      return Object.fromEntries(
        Object.entries(args).map(([name, value]) => [redactInto(name, applied), typeName(value)]),
      )
    case 'none':
      count(applied, 'not-kept')
      return undefined
    default:
      return unreachable(tier)
  }
}

function keptText(text: string, tier: Tier, applied: Applied): string | undefined {
  switch (tier) {
    case 'full':
      return redactInto(text, applied)
    case 'redacted':
      return redactCommandText(text, applied)
    case 'metadata':
      count(applied, 'metadata-only')
      return typeName(text)
    case 'none':
      count(applied, 'not-kept')
      return undefined
    default:
      return unreachable(tier)
  }
}

function typeName(value: unknown): string {
  if (value === null) return '[null]'
  return Array.isArray(value) ? '[array]' : `[${typeof value}]`
}

/** The value itself where nothing is changed. */
function eachString(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (typeof value !== 'object' || value === null) return value
  let changed: Record<string, unknown> | undefined
  for (const name in value) {
    const before = (value as Record<string, unknown>)[name]
    const after = eachString(before, change)
    if (after === before) continue
    changed ??= (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>
    changed[name] = after
  }
  return changed ?? value
}

const asRecord = (value: unknown): Record<string, unknown> => value as Record<string, unknown>
