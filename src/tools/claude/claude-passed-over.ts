const HEAD = Buffer.from('{"type":"')
const QUOTE = 0x22
/** Copies of requests and file backups: most of a session's bytes in 2.1.x, and nothing that is not said elsewhere. */
const NAMES = new Set([
  'api-request',
  'api-request-shape',
  'api-request-blob',
  'file-history-snapshot',
  'file-history-delta',
])
const USAGE = Buffer.from('"usage":{')

/** Told by the first bytes. A line that holds usage is never passed over: a torn line may have a reply glued to it. */
export function passesOver(line: Buffer): boolean {
  if (line.length < 24 || line.compare(HEAD, 0, HEAD.length, 0, HEAD.length) !== 0) return false
  const end = line.indexOf(QUOTE, HEAD.length)
  if (end < 0 || end > 40 || !NAMES.has(line.toString('latin1', HEAD.length, end))) return false
  return line[line.length - 1] === 0x7d && line.indexOf(USAGE) < 0
}
