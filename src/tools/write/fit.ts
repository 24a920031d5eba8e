import { clip } from '../log/clip.js'
import type { Conversation, LeftOut, SpokenPart, SpokenTurn } from './conversation.js'

/** What stays of a long result or argument in an old turn. */
const SHORT = 400
/** The newest turns keep all that they have as long as possible. */
const KEPT_WHOLE = 3

/**
 * The turns within so many characters. A program that is given more than its model takes sends all of it at once, and fails: so old
 * results are shortened first, the oldest first, and then the oldest turns are left out.
 */
export function fitted(
  { turns, session }: Pick<Conversation, 'turns' | 'session'>,
  mostChars: number,
): { turns: SpokenTurn[]; left_out: LeftOut[] } {
  const kept = [...turns]
  const sizes = kept.map(sizeOf)
  let size = sizes.reduce((sum, one) => sum + one, 0)
  let shortened = 0
  for (let at = 0; size > mostChars && at < kept.length - KEPT_WHOLE; at += 1) {
    const turn = kept[at]
    if (!turn) break
    const short = { ...turn, parts: turn.parts.map(shortPart) }
    const saved = (sizes[at] ?? 0) - sizeOf(short)
    if (saved <= 0) continue
    kept[at] = short
    sizes[at] = sizeOf(short)
    size -= saved
    shortened += 1
  }
  let dropped = 0
  while (size > mostChars && dropped < kept.length - 1) {
    size -= sizes[dropped] ?? 0
    dropped += 1
  }
  const rest = kept.slice(dropped)
  const [first] = rest
  if (dropped > 0 && first) {
    const note = `(${dropped} earlier turns of this conversation are left out here; \`skein turns ${session}\` shows them.)`
    rest[0] = { ...first, prompt: `${note}\n\n${first.prompt}` }
  }
  const left_out = [
    { what: 'old turns whose tool results were shortened to fit the context', count: shortened },
    { what: 'oldest turns, left out to fit the context', count: dropped },
    { what: 'turns longer than the context', count: size > mostChars ? 1 : 0 },
  ]
  return { turns: rest, left_out: left_out.filter(({ count }) => count > 0) }
}

const sizeOf = ({ prompt, parts }: SpokenTurn): number =>
  parts.reduce((sum, part) => sum + partSize(part), prompt.length)

const partSize = (part: SpokenPart): number =>
  part.kind === 'text' ? part.text.length : JSON.stringify(part.input).length + (part.result?.text.length ?? 0)

function shortPart(part: SpokenPart): SpokenPart {
  if (part.kind === 'text') return part
  const input = Object.fromEntries(Object.entries(part.input).map(([name, value]) => [name, shortValue(value)]))
  if (!part.result || part.result.text.length <= SHORT) return { ...part, input }
  return { ...part, input, result: { ...part.result, text: clip(part.result.text, SHORT), is_shortened: true } }
}

const shortValue = (value: unknown): unknown => (typeof value === 'string' ? clip(value, SHORT) : value)
