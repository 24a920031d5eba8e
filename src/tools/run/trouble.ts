import type { Trouble } from '../../model/index.js'

/** So much of what a provider said is shown. */
const SHOWN = 160

/** What an error of a model provider asks of the user, by its status and its words. */
export function troubleOf(message: string, status?: number): Trouble {
  const code = codeOf(message, status)
  if (code === 401 || code === 403 || /api key|unauthori[sz]ed|not logged in|credential|\/login\b/i.test(message))
    return 'auth'
  if (code === 402 || code === 429 || /rate limit|quota|usage limit|limit reached|exhausted/i.test(message))
    return 'usage-limit'
  if (code === 404 || /model .*(not found|not exist|unavailable|not supported)|selected model/i.test(message))
    return 'model-unavailable'
  return 'api-error'
}

/** A turn that ended with an error: what its user is to do about it, then what was said. */
export function failedTurn(
  message: string,
  { status, trouble = troubleOf(message, status) }: { status?: number | undefined; trouble?: Trouble | undefined } = {},
): { reason: string; trouble: Trouble } {
  const said = (message.split('\n', 1)[0] ?? '').trim().slice(0, SHOWN)
  const phrase = phraseOf(trouble, codeOf(message, status))
  return { trouble, reason: `the turn failed: ${phrase}${said === '' ? '' : ` (${said})`}` }
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
