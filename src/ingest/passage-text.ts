import {
  type Applied,
  applyTier,
  type CallTiers,
  type FilteredCall,
  filterText,
  type Policy,
  TIERS,
  tiersFor,
} from '../privacy/index.js'
import type { RawPassage } from './log-text.js'
import { ANSWER } from './passage.js'

/** What is already stored of a tool call whose result comes later. */
export interface StoredCall {
  name: string
  text: string
}

/** What may be kept, and which rules made it so. */
export interface KeptText {
  text: string
  /** The tool whose call it is; undefined for what people and agents wrote. */
  tool?: string
  applied: readonly Applied[]
}

/**
 * What may be kept of a passage: no secrets, and of tool calls what the policy allows. A call and its result are filtered apart, so
 * that it makes no difference whether they are read together.
 */
export function keptText(
  passage: RawPassage,
  policy: Policy,
  { stored, isOfSubAgent }: { stored: StoredCall | undefined; isOfSubAgent: boolean },
): KeptText {
  if (passage.kind !== 'tools') {
    if (isOfSubAgent || passage.isNotice)
      return delegatedText(
        passage.text,
        passage.kind === 'replies' || passage.isNotice ? 'result' : 'arguments',
        policy,
      )
    const { text, applied } = filterText(passage.text)
    return { text, applied: [applied] }
  }
  const tool = passage.call?.name ?? stored?.name ?? ''
  const call = passage.call && callText(tool, passage.call.arguments, policy)
  const asked = call?.text ?? stored?.text.split(ANSWER)[0] ?? ''
  const told = passage.result === undefined ? undefined : applyTier({ tool, result: passage.result }, policy)
  const answered = told ? told.result : stored?.text.split(ANSWER)[1]
  return {
    text: answered ? `${asked}${ANSWER}${plain(answered)}` : asked,
    tool,
    applied: [...(call?.applied ?? []), ...(told ? [told.applied] : [])],
  }
}

/**
 * A sub-agent's prompts and replies are what the call that started it was asked and what it answered. Its own log does not say
 * which tool that was, so the strictest of them counts.
 */
export function delegatedText(text: string, half: keyof CallTiers, policy: Policy): KeptText {
  const strictness = (tool: string): number => TIERS.indexOf(tiersFor(policy, tool)[half])
  const tool = DELEGATIONS.reduce((strictest, one) => (strictness(one) > strictness(strictest) ? one : strictest))
  const kept = applyTier(half === 'result' ? { tool, result: text } : { tool, arguments: { text } }, policy)
  const isKept = strictness(tool) < TIERS.indexOf('metadata')
  return { text: isKept ? wordsOf(kept) : '', tool, applied: [kept.applied] }
}

const wordsOf = (kept: FilteredCall): string => String(kept.result ?? kept.arguments?.text ?? '')

const DELEGATIONS = ['Task', 'Agent', 'task', 'spawn_agent']

function callText(name: string, args: Record<string, unknown>, policy: Policy): KeptText {
  const filtered = applyTier({ tool: name, arguments: args }, policy)
  const values = Object.entries(filtered.arguments ?? {})
  const lines = values.map(([key, value]) => `${key}: ${typeof value === 'string' ? value : told(value)}`)
  const text = plain([filterText(name).text, ...lines].join('\n'))
  // Lists once more as a whole: an option and its value may be two items.
  const again = values.some(([, value]) => typeof value === 'object') ? filterText(text) : undefined
  return { text: again?.text ?? text, applied: again ? [filtered.applied, again.applied] : [filtered.applied] }
}

const told = (value: unknown): string => JSON.stringify(value) ?? ''
const plain = (text: string): string => (text.includes(ANSWER) ? text.replaceAll(ANSWER, ' ') : text)
