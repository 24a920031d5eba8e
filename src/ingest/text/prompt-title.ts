import { filterText } from '../../privacy/index.js'

/** As much of a prompt as is looked at; its first line is rarely longer. */
const LOOKED_AT = 4_000
const LONGEST = 80

/** The first line of a prompt, without secrets, as a title for a session that nobody named; undefined when it says nothing. */
export function promptTitle(prompt: string): string | undefined {
  // Filtered before it is cut: half a secret is not recognised.
  const lines = filterText(prompt.slice(0, LOOKED_AT)).text.split('\n').map(plain)
  const line = lines.find((one) => one !== '' && !MARKUP.test(one))
  if (line === undefined || line.length <= LONGEST) return line
  const cut = line.slice(0, LONGEST - 1)
  const space = cut.lastIndexOf(' ')
  return `${(space > LONGEST / 2 ? cut.slice(0, space) : cut).replace(/[\ud800-\udbff]$/, '')}…`
}

/** What programs put around what a person typed: a tag alone on its line. */
const MARKUP = /^<\/?[\w:-]+[^<>]*>$/

const plain = (line: string): string =>
  line
    .replace(/[\p{Cc}\p{Cf}]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
