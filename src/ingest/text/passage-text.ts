import type { Instant } from '../../model/index.js'
import { filterText } from '../../privacy/index.js'
import type { Fact, SessionNews } from '../../tools/index.js'
import { ANSWER, callKey, type PassageKind } from './passage.js'

/** A prompt, a reply, a tool call with its result, or a title, as one reading of a log tells it. */
export interface Passage {
  key: string
  kind: PassageKind
  agent: string
  turn: number
  at: Instant | undefined
  /** Prompts, replies, titles. */
  text: string
  /** Tool calls: what this reading says about them. */
  call?: { name: string; arguments: Record<string, unknown> } | undefined
  result?: string | undefined
  /** The facts that the text and the result are of. */
  said?: Fact | undefined
  answered?: Fact | undefined
}

/** What is already stored of a tool call whose result comes later. */
export interface StoredCall {
  name: string
  text: string
}

/** The passages in filtered facts. A later version of the same passage replaces the earlier one. */
export function passagesOf(facts: readonly Fact[], news: SessionNews): Iterable<Passage> {
  const passages = new Map<string, Passage>()
  const put = (
    key: string,
    kind: PassageKind,
    { agent = '', turn, at }: { agent?: string | undefined; turn: number; at?: Instant | undefined },
    text: string,
  ): Passage => {
    const passage: Passage = { key, kind, agent, turn, at, text }
    passages.set(key, passage)
    return passage
  }
  for (const fact of facts) {
    switch (fact.kind) {
      case 'session':
        if (fact.title) put('title', 'titles', { turn: 0, at: news.started_at }, fact.title)
        break
      case 'turn':
        put(`prompt ${fact.agent ?? ''} ${fact.turn}`, 'prompts', fact, fact.prompt).said = fact
        break
      case 'said':
        put(`said ${fact.agent ?? ''} ${fact.message} ${fact.part}`, 'replies', fact, fact.text).said = fact
        break
      case 'tool-call': {
        const known = passages.get(callKey(fact.call))
        const passage = put(callKey(fact.call), 'tools', fact, '')
        passage.call = { name: fact.name, arguments: fact.arguments }
        passage.result = known?.result
        passage.answered = known?.answered
        break
      }
      case 'tool-result': {
        const passage = passages.get(callKey(fact.call)) ?? put(callKey(fact.call), 'tools', fact, '')
        passage.result = fact.result
        passage.answered = fact
        break
      }
      default:
        break
    }
  }
  return passages.values()
}

/** Its text as it is stored, in two parts; a call and its result may be told in two readings. */
export function textOf(passage: Passage, stored: StoredCall | undefined): { asked: string; answered: string } {
  if (passage.kind !== 'tools') return { asked: passage.text, answered: '' }
  const [storedCall, storedAnswer = ''] = stored?.text.split(ANSWER) ?? []
  const asked = passage.call ? callText(passage.call.name, passage.call.arguments) : (storedCall ?? '')
  return { asked, answered: passage.result === undefined ? storedAnswer : plain(passage.result) }
}

function callText(name: string, args: Record<string, unknown>): string {
  const values = Object.entries(args)
  const lines = values.map(([key, value]) => `${key}: ${typeof value === 'string' ? value : told(value)}`)
  const text = plain([name, ...lines].join('\n'))
  // Lists once more as a whole: an option and its value may be two items.
  return values.some(([, value]) => typeof value === 'object') ? filterText(text).text : text
}

const told = (value: unknown): string => JSON.stringify(value) ?? ''
const plain = (text: string): string => (text.includes(ANSWER) ? text.replaceAll(ANSWER, ' ') : text)
