import { SkeinError } from '../../model/index.js'

/** One thing to look for. All of them must stand in the same passage. */
export interface Term {
  /** Words that the index knows; more than one for a phrase or an identifier. */
  words: readonly string[]
  /** Of a word in a script without blanks: the words of the index that hold it. There a whole sentence is one word. */
  heldBy: ReadonlyMap<string, readonly string[]>
  /** The last word is only the beginning of one. */
  isPrefix: boolean
  /** Finds it in a text. */
  pattern: RegExp
  /** A quicker pattern that fits wherever the other does, and sometimes where it does not. */
  hint: RegExp
  /** The index tells only which words a passage has: whether they stand together has to be seen in its text. */
  isPhrase: boolean
}

/** What the index knows about words. */
export interface WordIndex {
  /** How it would split a word. */
  split(word: string): readonly string[]
  /** The words in it of which this is a part. */
  holding(part: string): readonly string[]
}

const MOST_CHARACTERS = 1_000
const MOST_WORDS = 32
/** A shorter beginning fits too many words to be looked up in time. */
const SHORTEST_PREFIX = 2

/**
 * Words, "phrases", beginnings* and identifiers such as `read_file` or `src/home/api.ts`, which are found whole and by their parts.
 * Everything else in the text is a separator: no text has a meaning that the index could misunderstand.
 */
export function parseSearch(text: string, index: WordIndex): Term[] {
  if (text.length > MOST_CHARACTERS) throw unusable(`A search has at most ${MOST_CHARACTERS} characters`)
  const terms = [...text.matchAll(PIECE)].flatMap(([, quoted, bare = '']) =>
    termOf(quoted ?? bare, quoted !== undefined),
  )
  const known = terms.flatMap((term) => knownTerm(term, index))
  const words = known.reduce((sum, term) => sum + term.words.length, 0)
  if (words === 0) throw unusable('The search has no words')
  if (words > MOST_WORDS) throw unusable(`A search has at most ${MOST_WORDS} words`)
  return known
}

/** What the index is asked: every word in quotes, so that none can be taken for an operator. */
export const indexExpression = (terms: readonly Term[]): string =>
  terms
    .flatMap(({ words, heldBy, isPrefix }) =>
      words.map((word, at) => {
        const held = heldBy.get(word) ?? []
        if (held.length > 0) return `(${held.map((one) => `"${one}"`).join(' OR ')})`
        return `"${word}"${isPrefix && at === words.length - 1 ? ' *' : ''}`
      }),
    )
    .join(' AND ')

const PIECE = /"([^"]*)"?|([^\s"]+)/g
/** As the index splits text: letters, numbers and the marks on them. */
const WORD = /[\p{L}\p{N}\p{Co}\p{Mn}]+/gu
const INSIDE = '[\\p{L}\\p{N}\\p{Co}\\p{Mn}]'
/** Written without blanks between words, or with endings that stick to them. */
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u

function termOf(piece: string, isQuoted: boolean): Term[] {
  const found = [...piece.matchAll(WORD)]
  const [first, last] = [found[0], found.at(-1)]
  if (!first || !last) return []
  const words = found.map(([word]) => word)
  const isPrefix = !isQuoted && piece.slice(last.index + last[0].length).startsWith('*')
  if (isPrefix && words.length === 1 && [...last[0]].length < SHORTEST_PREFIX) {
    throw unusable(`"${last[0]}*" is too short: a prefix has at least ${SHORTEST_PREFIX} characters`)
  }
  // In an identifier what joins its parts counts; in a phrase anything may.
  const middle = isQuoted
    ? words.join(`[^\\p{L}\\p{N}\\p{Co}\\p{Mn}]{1,80}`)
    : escaped(piece.slice(first.index, last.index + last[0].length))
  const opens = UNSPACED.test([...first[0]][0] ?? '') ? '' : `(?<!${INSIDE})`
  const closes = UNSPACED.test([...last[0]].at(-1) ?? '') ? '' : isPrefix ? `${INSIDE}*` : `(?!${INSIDE})`
  const pattern = new RegExp(`${opens}${middle}${closes}`, 'giu')
  const isPlain = ASCII.test(words.join(''))
  const hint = isPlain
    ? new RegExp(isQuoted ? words.join('[^a-z0-9]+') : middle, 'i')
    : new RegExp(pattern.source, 'iu')
  return [{ words, heldBy: NONE, isPrefix, pattern, hint, isPhrase: words.length > 1 }]
}

const NONE: Term['heldBy'] = new Map()

/** Words beyond ASCII are left to the index, whose idea of a letter is older than ours. */
function knownTerm(term: Term, index: WordIndex): Term[] {
  const words = term.words.flatMap((word) => (ASCII.test(word) ? [word] : index.split(word)))
  if (words.length === 0) return []
  const unspaced = words.filter((word) => UNSPACED.test(word))
  if (unspaced.length === 0) return [{ ...term, words }]
  return [{ ...term, words, heldBy: new Map(unspaced.map((word) => [word, index.holding(word)])) }]
}

const ASCII = /^[A-Za-z0-9]+$/
const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
const unusable = (message: string): SkeinError =>
  new SkeinError('bad-input', message, 'Use words, "a phrase" or a prefix: skein search "retry* timeout"')
