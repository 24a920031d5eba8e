import type { Fact } from '../tools/index.js'
import { KINDS, parsed } from './fact-lines.js'

/**
 * Facts that nothing is added to: the texts of them all, a line feed behind each, then a list of the facts in which a text stands as
 * its length in bytes. Texts are most of it, and JSON would look at each of their characters twice.
 */
export interface FactBody {
  bytes: Buffer
  /** Of the texts. The list follows. */
  texts: number
}

/** The bytes are good until the next call. */
export function factBody(facts: readonly Fact[]): FactBody {
  let length = 0
  const told = facts.map((fact) => {
    const name = textField(fact)
    const text = name && (fact as Record<string, unknown>)[name]
    if (!name || typeof text !== 'string' || text.length < WORTH_IT) return fact
    makeRoom(length, text.length * 3 + 1)
    const size = scratch.write(text, length)
    scratch[length + size] = LINE_FEED
    length += size + 1
    return { ...fact, [name]: size }
  })
  const list = JSON.stringify(told)
  makeRoom(length, list.length * 3)
  const end = length + scratch.write(list, length)
  return { bytes: scratch.subarray(0, end), texts: length }
}

/** Undefined when there is no list. Facts of kinds that a newer version wrote are passed over. */
export function parseFactBody({ bytes, texts }: FactBody): Fact[] | undefined {
  const told = parsed<Record<string, unknown>[]>(bytes.toString('utf8', texts))
  if (!Array.isArray(told)) return undefined
  let at = 0
  return told.flatMap((fact): Fact[] => {
    for (const name of TEXT_FIELDS) {
      const size = fact?.[name]
      if (typeof size !== 'number') continue
      fact[name] = bytes.toString('utf8', at, at + size)
      at += size + 1
    }
    return KINDS.has(fact?.kind as string) ? [fact as unknown as Fact] : []
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
