import type { Trouble } from '../model/index.js'

/** What an error of a model provider asks of the user, by its status and its words. */
export function troubleOf(message: string, status?: number): Trouble {
  const code = status ?? Number(/\b([45]\d\d)\b/.exec(message)?.[1])
  if (code === 401 || code === 403 || /api key|unauthori[sz]ed|not logged in|credential/i.test(message)) return 'auth'
  if (code === 402 || code === 429 || /rate limit|quota|usage limit|exhausted/i.test(message)) return 'usage-limit'
  if (code === 404 || /model .*(not found|not exist|unavailable|not supported)/i.test(message))
    return 'model-unavailable'
  return 'api-error'
}
