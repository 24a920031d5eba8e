import { CLIP } from '../clip.js'
import type { Shortcut } from '../record-reader.js'

const CLOSING_BRACE = 0x7d
const QUOTE = 0x22
const HEAD = Buffer.from('{"type":"')
const USAGE = Buffer.from('"usage":{')
/** Copies of requests and file backups: most of a session's bytes in 2.1.x, and nothing that is not said elsewhere. */
const NAMES = new Set([
  'api-request',
  'api-request-shape',
  'api-request-blob',
  'file-history-snapshot',
  'file-history-delta',
])

const DETAILS = Buffer.from(',"toolUseResult":')
const UUID = Buffer.from('"uuid":"')
/** What the details say that nothing else does, and what betrays a second record glued to a torn line. */
const WANTED = ['"agentId":', '"timestamp":"'].map((key) => Buffer.from(key))
const RESULT = Buffer.from('"tool_result"')
/** The type of a line's content stands within its first bytes. */
const HEAD_BYTES = 2_048
/** As much as a result's summary can hold. */
const RESULT_BYTES = CLIP.result + 100

/** What need not be parsed, told by bytes. Parsing is most of the cost of reading a log. */
export const claudeShortcut: Shortcut = {
  /** A line that holds usage is never passed over: a torn line may have a reply glued to it. */
  passesOver(line) {
    if (line.length < 24 || line.compare(HEAD, 0, HEAD.length, 0, HEAD.length) !== 0) return false
    const end = line.indexOf(QUOTE, HEAD.length)
    if (end < 0 || end > 40 || !NAMES.has(line.toString('latin1', HEAD.length, end))) return false
    return line[line.length - 1] === CLOSING_BRACE && line.indexOf(USAGE) < 0
  },

  /** `toolUseResult` repeats the tool's output, and for an edit the whole file. It stands last, or after all that matters. */
  readsUpTo(line) {
    const details = line.indexOf(DETAILS)
    if (details < 0 || line.indexOf(UUID) > details || line[line.length - 1] !== CLOSING_BRACE) return line.length
    return WANTED.some((key) => line.indexOf(key, details) >= 0) ? line.length : details
  },

  keepsBytes(line) {
    return line.subarray(0, HEAD_BYTES).indexOf(RESULT) >= 0 ? RESULT_BYTES : Number.POSITIVE_INFINITY
  },
}
