import { applyTier, filterText, type Policy } from '../privacy/index.js'
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
export function keptText(passage: RawPassage, policy: Policy, stored: StoredCall | undefined): string {
  if (passage.kind !== 'tools') return filterText(passage.text).text
  const name = passage.call?.name ?? stored?.name ?? ''
  const asked = passage.call ? callText(name, passage.call.arguments, policy) : (stored?.text.split(ANSWER)[0] ?? '')
  const answered =
    passage.result === undefined
      ? stored?.text.split(ANSWER)[1]
      : applyTier({ tool: name, result: passage.result }, policy).result
  return answered ? `${asked}${ANSWER}${plain(answered)}` : asked
}

function callText(name: string, args: Record<string, unknown>, policy: Policy): string {
  const kept = applyTier({ tool: name, arguments: args }, policy).arguments ?? {}
  const lines = Object.entries(kept).map(([key, value]) => `${key}: ${typeof value === 'string' ? value : told(value)}`)
  // Once more as a whole: an option and its value may have come as two arguments.
  return plain(filterText([name, ...lines].join('\n')).text)
}

const told = (value: unknown): string => JSON.stringify(value) ?? ''
const plain = (text: string): string => (text.includes(ANSWER) ? text.replaceAll(ANSWER, ' ') : text)
