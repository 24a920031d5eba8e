import { SkeinError } from '../model/index.js'
import type { Span } from './mark.js'

const LONGEST_GLOB = 500
const MOST_WILDCARDS = 8
/** No file system has longer ones. */
const LONGEST_PATH = 4_096
/** What may be a path: no spaces, quotes, brackets or what separates words in commands and JSON. */
const PATH_LIKE = /[^\s\p{Cc}"'`<>|;,()[\]{}=:*?\\]+/gu

/** What people put into names of files all the same. A glob that has one of these is looked for as it is written. */
const RARE = /[\s"'`<>|;,()[\]{}=:\\]/
/** Before and behind such a path: no character that would make it the part of another name. */
const NOT_WITHIN = { before: '(?<![^\\s\\p{Cc}"\'`<>|;,(){}=:])', behind: '(?![\\p{L}\\p{N}_-])' }

/** Finds paths in texts: `secrets/*.pem` anywhere below any directory, `/srv/keys` and all that is in it. */
export class PathGlob {
  readonly #expression: RegExp
  readonly #isRare: boolean

  constructor(readonly glob: string) {
    const wildcards = glob.match(/\*+|\?/g)?.length ?? 0
    if (glob.length > LONGEST_GLOB || wildcards > MOST_WILDCARDS)
      throw badGlob(glob, `has more than ${LONGEST_GLOB} characters or ${MOST_WILDCARDS} wildcards`)
    if (!/[^*?/.]/.test(glob)) throw badGlob(glob, 'matches almost every path')
    this.#isRare = RARE.test(glob)
    const [any, name] = this.#isRare ? [`${NAME}*`, NAME_IN_TEXT] : ['.*', '[^/]*']
    const parts: Record<string, string> = { '**/': `(?:${any}/)?`, '*': name, '?': '[^/]' }
    const body = glob
      .replace(/\/+$/, '')
      .replace(/\*\*\/|\*+|\?|[^*?]+/g, (part) => parts[part] ?? (part.startsWith('**') ? any : escaped(part)))
      .replace(/^~(?=\/)/, HOMES)
    const from = /^[/~]/.test(glob) ? '' : `(?:${any}/)?`
    this.#expression = this.#isRare
      ? new RegExp(`${NOT_WITHIN.before}${from}${body}(?:/${any}|${NOT_WITHIN.behind})`, 'gu')
      : new RegExp(`^${from}${body}(?:/.*)?$`, 's')
  }

  spansIn(text: string): Span[] {
    if (this.#isRare)
      return Array.from(text.matchAll(this.#expression), ({ 0: path, index }) => ({
        start: index,
        end: index + path.length,
      }))
    const spans: Span[] = []
    for (const { 0: word, index } of text.matchAll(PATH_LIKE)) {
      // A sentence may end behind a path.
      const path = word.replace(/[.!]+$/, '')
      if (path.length <= LONGEST_PATH && this.#expression.test(path))
        spans.push({ start: index, end: index + path.length })
    }
    return spans
  }
}

/** What a part of a path is made of where the rest of it is not written out. */
const NAME = '[^\\s\\p{Cc}"\'`<>|;,]'
const NAME_IN_TEXT = '[^/\\n"\'`<>|]{0,200}?'
/** `~/.ssh` is written out in most texts, and nobody can tell whose home that was. */
const HOMES = '(?:~|\\$HOME|/root|/home/[^/\\s]+|/Users/[^/\\s]+)'
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

const badGlob = (glob: string, what: string): SkeinError =>
  new SkeinError('bad-input', `The path ${JSON.stringify(glob.slice(0, 60))} ${what}`, 'Write one like secrets/*.pem')
