import { SkeinError } from '../../model/index.js'
import { isObject } from '../json-value.js'
import type { Answer } from '../run/tool-runner.js'
import { basicAuthorization } from './opencode-plugin.js'

const REPLIES = { allow: 'once', 'allow-always': 'always', deny: 'reject' } as const

/**
 * Answers by opencode's own API. Some versions say yes to a reply for a request that they do not know, so what counts is that
 * the request was pending before and is not afterwards.
 */
export const answerOpencode: Answer = async ({ request, decision, launch, signal }) => {
  if (request.kind !== 'permission')
    throw new SkeinError(
      'bad-input',
      'opencode asks a question that is not answered by yes or no',
      'Choose one of its options',
    )
  const server = `http://127.0.0.1:${launch.port}`
  const headers = { authorization: basicAuthorization(launch.secret), 'content-type': 'application/json' }
  const pending = async (): Promise<boolean> => {
    const listed: unknown = await (await fetch(`${server}/permission`, { headers, signal })).json()
    return Array.isArray(listed) && listed.some((one) => isObject(one) && one.id === request.id)
  }
  if (!(await pending()))
    throw new SkeinError('stale-answer', 'opencode no longer waits for this answer', 'See: skein list')
  const body = JSON.stringify({ reply: REPLIES[decision] })
  const path = `/permission/${encodeURIComponent(request.id)}/reply`
  const reply = await fetch(`${server}${path}`, { method: 'POST', headers, body, signal })
  if (!reply.ok || (await pending()))
    throw new SkeinError(
      'not-answered',
      `opencode did not accept the answer (HTTP ${reply.status})`,
      'Attach and answer there',
    )
  return { receipt: `opencode accepted the answer "${REPLIES[decision]}" and no longer lists the request` }
}
