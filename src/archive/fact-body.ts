import type { Fact } from '../tools/index.js'
import { KINDS, parsed } from './fact-lines.js'
import { type FactRow, factIn, rowOf } from './fact-rows.js'
import { UsageRows } from './usage-rows.js'
import type { SharedWords, WordPlace } from './word-blocks.js'

type UsageFact = Extract<Fact, { kind: 'usage' }>

/**
 * Facts that nothing is added to: their texts, a line feed behind each, then a list of the facts, most of them as rows, in which a text
 * stands as its length in bytes. Texts are most of it, and JSON would look at each of their characters twice. A text that is in a block
 * of words already is not repeated; its place stands in the list.
 */
export interface FactBody {
  bytes: Buffer
  /** Of the texts. The list follows. */
  texts: number
}

/** The bytes are good until the next call. */
export function factBody(facts: readonly Fact[], placeOf: SharedWords['placeOf'] = () => undefined): FactBody {
  let length = 0
  const usage = new UsageRows()
  const told = facts.map((fact) => {
    if (fact.kind === 'usage') return rowOf(fact, 'usage', usage.rowOf(fact))
    const name = textField(fact)
    const text = name && (fact as Record<string, unknown>)[name]
    // Half of a character is nothing that bytes could tell.
    if (!name || typeof text !== 'string' || text.length < WORTH_IT || !text.isWellFormed()) return rowOf(fact) ?? fact
    const place = placeOf(fact)
    if (place) return rowOf(fact, name, place)
    makeRoom(length, text.length * 3 + 1)
    const size = scratch.write(text, length)
    scratch[length + size] = LINE_FEED
    length += size + 1
    return rowOf(fact, name, size)
  })
  const list = JSON.stringify(told)
  makeRoom(length, list.length * 3)
  const end = length + scratch.write(list, length)
  return { bytes: scratch.subarray(0, end), texts: length }
}

/** Undefined when there is no list. Facts of kinds that a newer version wrote are passed over. */
export function parseFactBody({ bytes, texts }: FactBody, blockAt: (block: number) => Buffer): Fact[] | undefined {
  const told = parsed<(Record<string, unknown> | FactRow)[]>(bytes.toString('utf8', texts))
  if (!Array.isArray(told)) return undefined
  let at = 0
  const usage = new UsageRows()
  return told.flatMap((one): Fact[] => {
    const fact = Array.isArray(one) ? factIn(one) : one
    if (!fact) return []
    if (Array.isArray(fact.usage)) {
      const told = fact as { usage: unknown; at?: UsageFact['at'] }
      told.usage = usage.usageOf(told.usage as Parameters<typeof usage.usageOf>[0], told.at)
    }
    for (const name of TEXT_FIELDS) {
      const told = fact[name]
      if (typeof told === 'number') {
        fact[name] = bytes.toString('utf8', at, at + told)
        at += told + 1
      } else if (Array.isArray(told)) {
        const [block, start, length] = told as WordPlace
        fact[name] = blockAt(block).toString('utf8', start, start + length)
      }
    }
    return KINDS.has(fact.kind as string) ? [fact as unknown as Fact] : []
  })
}

const TEXT_FIELDS = ['prompt', 'text', 'result'] as const

function textField(fact: Fact): (typeof TEXT_FIELDS)[number] | undefined {
  switch (fact.kind) {
    case 'turn':
      return 'prompt'
    case 'said':
      return 'text'
    case 'tool-result':
      return 'result'
    default:
      return undefined
  }
}

/** A shorter text stays where it is. */
const WORTH_IT = 40
const LINE_FEED = 0x0a

let scratch = Buffer.allocUnsafe(64 * 1024)

function makeRoom(used: number, more: number): void {
  if (used + more <= scratch.length) return
  const larger = Buffer.allocUnsafe((used + more) * 2)
  scratch.copy(larger, 0, 0, used)
  scratch = larger
}
