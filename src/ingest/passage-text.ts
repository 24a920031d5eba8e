import { applyTier, filterText, type Policy, TIERS, tiersFor } from '../privacy/index.js'
import type { RawPassage } from './log-text.js'
import { ANSWER } from './passage.js'

/** What is already stored of a tool call whose result comes later. */
export interface StoredCall {
  name: string
  text: string
}

/**
 * What may be kept of a passage: no secrets, and of tool calls what the policy allows. A call and its result are filtered apart, so
 * that it makes no difference whether they are read together.
 */
export function keptText(
  passage: RawPassage,
  policy: Policy,
  { stored, isOfSubAgent }: { stored: StoredCall | undefined; isOfSubAgent: boolean },
): string {
  if (passage.kind !== 'tools') {
    const isDelegated = isOfSubAgent || passage.isNotice
    return isDelegated ? delegatedText(passage, policy) : filterText(passage.text).text
  }
  const name = passage.call?.name ?? stored?.name ?? ''
  const asked = passage.call ? callText(name, passage.call.arguments, policy) : (stored?.text.split(ANSWER)[0] ?? '')
  const answered =
    passage.result === undefined
      ? stored?.text.split(ANSWER)[1]
      : applyTier({ tool: name, result: passage.result }, policy).result
  return answered ? `${asked}${ANSWER}${plain(answered)}` : asked
}

/**
 * A sub-agent's prompts and replies are what the call that started it was asked and what it answered. Its own log does not say
 * which tool that was, so the strictest of them counts.
 */
function delegatedText({ kind, text, isNotice }: RawPassage, policy: Policy): string {
  const half = kind === 'replies' || isNotice ? 'result' : 'arguments'
  const strictness = (tool: string): number => TIERS.indexOf(tiersFor(policy, tool)[half])
  const tool = DELEGATIONS.reduce((strictest, one) => (strictness(one) > strictness(strictest) ? one : strictest))
  if (strictness(tool) >= TIERS.indexOf('metadata')) return ''
  if (half === 'result') return applyTier({ tool, result: text }, policy).result ?? ''
  return String(applyTier({ tool, arguments: { text } }, policy).arguments?.text ?? '')
}

const DELEGATIONS = ['Task', 'Agent', 'task', 'spawn_agent']

function callText(name: string, args: Record<string, unknown>, policy: Policy): string {
  const kept = applyTier({ tool: name, arguments: args }, policy).arguments ?? {}
  const values = Object.entries(kept)
  const lines = values.map(([key, value]) => `${key}: ${typeof value === 'string' ? value : told(value)}`)
  const text = plain([filterText(name).text, ...lines].join('\n'))
  // Lists once more as a whole: an option and its value may be two items.
  return values.some(([, value]) => typeof value === 'object') ? filterText(text).text : text
}

const told = (value: unknown): string => JSON.stringify(value) ?? ''
const plain = (text: string): string => (text.includes(ANSWER) ? text.replaceAll(ANSWER, ' ') : text)
