const PLAIN = /^[\x20-\x7e]*$/
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]$/u
const EMOJI = /\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|[0-9#*]\ufe0f?\u20e3/u
// Only these make a group of characters narrower than the sum of its parts; without them no segmenter is needed.
const JOINING = /[\u200d\ufe0f\u20e3]|\p{Emoji_Modifier}|\p{Regional_Indicator}/u

/** First and last code point of each block that terminals draw two cells wide (East Asian Wide and Fullwidth). */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xa960, 0xa97c],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18aff],
  [0x1aff0, 0x1b2ff],
  [0x20000, 0x3fffd],
]

/** How many cells of a terminal a text takes. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length
  let width = 0
  for (const cluster of clusters(text)) width += clusterWidth(cluster)
  return width
}

/** The longest beginning that fits, never cutting a character in two. */
export function cutToWidth(text: string, width: number): string {
  if (PLAIN.test(text)) return text.slice(0, Math.max(0, width))
  let used = 0
  let kept = ''
  for (const cluster of clusters(text)) {
    used += clusterWidth(cluster)
    if (used > width) break
    kept += cluster
  }
  return kept
}

/** As it is when it fits, else its beginning and an ellipsis. */
export function truncateToWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return text
  return width < 1 ? '' : `${cutToWidth(text, width - 1)}…`
}

let segmenter: Intl.Segmenter | undefined
/** What a reader sees as one character. The segmenter costs 9 ms to load, so it is asked only where it can matter. */
function* clusters(text: string): Iterable<string> {
  if (!JOINING.test(text)) {
    yield* text
    return
  }
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  for (const { segment } of segmenter.segment(text)) yield segment
}

function clusterWidth(cluster: string): number {
  if (EMOJI.test(cluster)) return 2
  let width = 0
  for (const character of cluster) width += characterWidth(character)
  return width
}

function characterWidth(character: string): number {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x300) return 1
  if (ZERO.test(character)) return 0
  return WIDE.some(([first, last]) => code >= first && code <= last) ? 2 : 1
}
