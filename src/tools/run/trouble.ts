import type { Trouble } from '../../model/index.js'
import { resetPhrase } from './reset-time.js'

/** So much of what a provider said is shown. */
const SHOWN = 160

const LIMIT =
  /(usage|rate|session|weekly|daily|monthly|spend|spending) limit|limit reached|quota|too many requests|usage exceeded|(out of|insufficient) (\w+ )?(credits?|balance|funds)|(hit|reached) your .{0,40}limit/i

/** What an error of a model provider asks of the user, by its status and its words. */
export function troubleOf(message: string, status?: number): Trouble {
  const code = codeOf(message, status)
  if (code === 401 || code === 403 || /api key|unauthori[sz]ed|not logged in|credential|\/login\b/i.test(message))
    return 'auth'
  if (code === 402 || code === 429 || LIMIT.test(message) || /exhausted/i.test(message)) return 'usage-limit'
  if (code === 404 || /model .*(not found|not exist|unavailable|not supported)|selected model/i.test(message))
    return 'model-unavailable'
  return 'api-error'
}

/** A turn that ended with an error: what its user is to do about it, then what was said. */
export function failedTurn(
  message: string,
  { status, trouble = troubleOf(message, status) }: { status?: number | undefined; trouble?: Trouble | undefined } = {},
): { reason: string; trouble: Trouble } {
  const said = shownOf(message)
  const phrase = phraseOf(trouble, codeOf(message, status))
  return { trouble, reason: `the turn failed: ${phrase}${said === '' ? '' : ` (${said})`}` }
}

/** The first line, and when a limit ends, wherever that is said. */
function shownOf(message: string): string {
  const said = (message.split('\n', 1)[0] ?? '').trim().slice(0, SHOWN)
  const resets = resetPhrase(message)
  return resets === undefined || said.includes(resets) ? said : `${said}… ${resets}`
}

function phraseOf(trouble: Trouble, code: number | undefined): string {
  if (trouble === 'auth') return 'not logged in'
  if (trouble === 'usage-limit') return code === 429 ? 'rate limited' : 'usage limit reached'
  if (trouble === 'model-unavailable') return 'the model is not available'
  if (code === undefined) return 'provider error'
  return code >= 500 ? `server error ${code}` : `error ${code}`
}

function codeOf(message: string, status?: number): number | undefined {
  const found = status ?? Number(/\b([45]\d\d)\b/.exec(message)?.[1])
  return Number.isNaN(found) ? undefined : found
}

/** Lines at the end of a screen that may say why a program has left. */
const LAST_LINES = 5
const NO_LOGIN =
  /not logged in|(invalid|incorrect|missing|expired|revoked) (x-)?(api[ -]key|(access |oauth )?token|credentials?)|(api[ -]key|token|credentials?) (is |was |has been |not )?(invalid|valid|found|expired|revoked)|unauthori[sz]ed|authentication (failed|required)|please (run|use) \S*login|(?<![:.\d])401(?![:.\d])/i
const TOO_MANY = /(?<![:.\d])429(?![.\d])/

/** What the last words of a program that left with an error say about why; undefined when they say nothing that would stop it again. */
export function troubleAtExit(
  screen: readonly string[],
): { trouble: 'auth' | 'usage-limit'; said: string } | undefined {
  const last = screen.filter((line) => line.trim() !== '').slice(-LAST_LINES)
  const isLimit = (line: string): boolean => LIMIT.test(line) || TOO_MANY.test(line)
  const at = last.findLastIndex((line) => NO_LOGIN.test(line) || isLimit(line))
  const line = last[at]
  if (line === undefined) return undefined
  const said = shownOf([line, ...last.slice(at + 1)].map((one) => one.trim()).join('\n'))
  return { trouble: isLimit(line) ? 'usage-limit' : 'auth', said }
}
