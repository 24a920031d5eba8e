import { PURGED } from '../../privacy/index.js'

/** Where a passage stands. The numbers are stored. */
export const PASSAGE_KINDS = { prompts: 1, replies: 2, tools: 3, titles: 4 } as const
export type PassageKind = keyof typeof PASSAGE_KINDS

export const kindOf = (number: number): PassageKind => KINDS[number - 1] as PassageKind
const KINDS = Object.keys(PASSAGE_KINDS)

/** Between what a tool was asked and what it answered. */
export const ANSWER = '\u001e'

/** What the text has of the arguments of a call on a path that was purged. */
export const PURGED_CALL_TEXT = `purged: ${PURGED}`

/** Names a tool call among the passages of its log. */
export const callKey = (call: string): string => `call ${call}`

// Words that no text has: they stand in the index beside the words of a passage, so that a filter is one word more to look for.
const OURS = '\ue000'
export const kindWord = (kind: PassageKind): string => `${OURS}k${PASSAGE_KINDS[kind]}`
/** For the program whose log it is, and for the tool it called. */
export const toolWord = (name: string): string => `${OURS}t${name.replace(/[^A-Za-z0-9]/g, '\ue001')}`

/** What stands behind the words of a passage. Asked for every passage, and there are few different ones. */
export function wordsBeside(kind: PassageKind, program: string, name = ''): string {
  const ofKind = beside[kind]
  let known = ofKind.get(name)
  if (known?.program !== program) {
    const words = ` ${kindWord(kind)} ${toolWord(program)}${name ? ` ${toolWord(name)}` : ''}`
    known = { program, words }
    if (ofKind.size >= MOST_BESIDE) ofKind.clear()
    ofKind.set(name, known)
  }
  return known.words
}
/** By kind and by the name of the tool that was called; most logs of a batch are of one program. */
const beside: Record<PassageKind, Map<string, { program: string; words: string }>> = {
  prompts: new Map(),
  replies: new Map(),
  tools: new Map(),
  titles: new Map(),
}
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
