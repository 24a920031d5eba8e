import { isUtf8 } from 'node:buffer'
import { CLIP } from '../log/clip.js'
import type { Shortcut } from '../log/record-reader.js'
import { CLAUDE_TRIM_CODE } from './claude-trim-code.js'

const LINE_FEED = 0x0a
/** Of a line up to this length every text is kept. */
const SHORT_LINE = 4_096
/** As much as a result's summary can hold. */
const RESULT_BYTES = CLIP.result + 100

interface Constant {
  readonly value: number
}

/** See wasm/claude-trim.ts. */
interface Trimmer {
  memory: { readonly buffer: ArrayBuffer }
  trim(size: number, keepBytes: number): number
  LINE: Constant
  MOST_BYTES: Constant
  TRIMMED: Constant
}
const NOTHING = -2

/** Loaded with the first line: most commands read none. */
class Trimming {
  readonly #trimmer: Trimmer
  readonly #bytes: Buffer
  readonly #at: { line: number; trimmed: number; most: number }

  constructor() {
    const module = new WebAssembly.Module(Buffer.from(CLAUDE_TRIM_CODE, 'base64'))
    this.#trimmer = new WebAssembly.Instance(module).exports as Trimmer
    const { memory, LINE, TRIMMED, MOST_BYTES } = this.#trimmer
    this.#bytes = Buffer.from(memory.buffer)
    this.#at = { line: LINE.value, trimmed: TRIMMED.value, most: MOST_BYTES.value }
  }

  trimmed(line: Buffer): string | undefined {
    const { length } = line
    const at = this.#at
    if (length > at.most) return undefined
    const bytes = this.#bytes
    bytes.set(line, at.line)
    bytes[at.line + length] = LINE_FEED
    const trimmer = this.#trimmer
    const found = trimmer.trim(length, length > SHORT_LINE ? RESULT_BYTES : 0)
    if (found === NOTHING) return ''
    if (found < 0) return undefined
    const end = at.trimmed + (found >> 1)
    if ((found & 1) === 0) return bytes.toString('latin1', at.trimmed, end)
    return isUtf8(line) ? bytes.toString('utf8', at.trimmed, end) : undefined
  }
}

let trimming: Trimming | undefined

/** What need not be parsed of a line, told by bytes. Parsing is most of the cost of reading a log. */
export const claudeTrim: Shortcut = {
  trimmed(line) {
    trimming ??= new Trimming()
    return trimming.trimmed(line)
  },
}
