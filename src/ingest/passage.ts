/** Where a passage stands. The numbers are stored. */
export const PASSAGE_KINDS = { prompts: 1, replies: 2, tools: 3, titles: 4 } as const
export type PassageKind = keyof typeof PASSAGE_KINDS

export const kindOf = (number: number): PassageKind => KINDS[number - 1] as PassageKind
const KINDS = Object.keys(PASSAGE_KINDS)

/** Between what a tool was asked and what it answered. */
export const ANSWER = '\u001e'

// Words that no text has: they stand in the index beside the words of a passage, so that a filter is one word more to look for.
const OURS = '\ue000'
export const kindWord = (kind: PassageKind): string => `${OURS}k${PASSAGE_KINDS[kind]}`
/** For the program whose log it is, and for the tool it called. */
export const toolWord = (name: string): string => `${OURS}t${name.replace(/[^A-Za-z0-9]/g, '\ue001')}`

/** What stands behind the words of a passage. Asked for every passage, and there are few different ones. */
export function wordsBeside(kind: PassageKind, program: string, name: string | undefined): string {
  const key = `${kind} ${program} ${name ?? ''}`
  let words = beside.get(key)
  if (words === undefined) {
    words = ` ${kindWord(kind)} ${toolWord(program)}${name ? ` ${toolWord(name)}` : ''}`
    if (beside.size >= MOST_BESIDE) beside.clear()
    beside.set(key, words)
  }
  return words
}
const beside = new Map<string, string>()
const MOST_BESIDE = 1_000

/** A number of 46 bits, which SQLite stores in six bytes, for a key of any length. */
export function keyNumber(key: string): number {
  let a = 0x811c9dc5
  let b = 0x9747b28c
  for (let at = 0; at < key.length; at += 1) {
    const code = key.charCodeAt(at)
    a = Math.imul(a ^ code, 0x01000193)
    b = Math.imul(b ^ code, 0x85ebca6b)
    b ^= b >>> 13
  }
  return (a >>> 0) * 0x4000 + ((b ^ (b >>> 16)) & 0x3fff)
}
