import { SkeinError } from '../model/index.js'
import type { Span } from './mark.js'

const LONGEST_GLOB = 500
const MOST_WILDCARDS = 8
/** No file system has longer ones. */
const LONGEST_PATH = 4_096
/** What may be a path: no spaces, quotes, brackets or what separates words in commands and JSON. */
const PATH_LIKE = /[^\s\p{Cc}"'`<>|;,()[\]{}=:*?\\]+/gu

/** Finds paths in texts: `secrets/*.pem` anywhere below any directory, `/srv/keys` and all that is in it. */
export class PathGlob {
  readonly #expression: RegExp

  constructor(readonly glob: string) {
    const wildcards = glob.match(/\*+|\?/g)?.length ?? 0
    if (glob.length > LONGEST_GLOB || wildcards > MOST_WILDCARDS)
      throw badGlob(glob, `has more than ${LONGEST_GLOB} characters or ${MOST_WILDCARDS} wildcards`)
    if (!/[^*?/.]/.test(glob)) throw badGlob(glob, 'fits almost every path')
    const body = glob
      .replace(/\/+$/, '')
      .replace(/\*\*\/|\*+|\?|[^*?]+/g, (part) => PARTS[part] ?? (part.startsWith('**') ? '.*' : escaped(part)))
    const anywhere = /^[/~]/.test(glob) ? '' : '(?:.*/)?'
    this.#expression = new RegExp(`^${anywhere}${body}(?:/.*)?$`, 's')
  }

  spansIn(text: string): Span[] {
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

const PARTS: Readonly<Record<string, string>> = { '**/': '(?:.*/)?', '*': '[^/]*', '?': '[^/]' }
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

const badGlob = (glob: string, what: string): SkeinError =>
  new SkeinError('bad-input', `The path ${JSON.stringify(glob.slice(0, 60))} ${what}`, 'Write one like secrets/*.pem')
