import { SkeinError } from '../../model/index.js'
import { isObject, type JsonObject, listAt, textAt } from '../json-value.js'
import type { Answer } from '../run/tool-runner.js'
import { basicAuthorization } from './opencode-plugin.js'

const REPLIES = { allow: 'once', 'allow-always': 'always', deny: 'reject' } as const

/**
 * Answers by opencode's own API. Some versions say yes to a reply for a request that they do not know, so what counts is that
 * the request was pending before and is not afterwards.
 */
export const answerOpencode: Answer = async ({ request, reply, launch, signal }) => {
  const kind = request.kind === 'permission' ? 'permission' : 'question'
  const server = `http://127.0.0.1:${launch.port}/${kind}`
  const headers = { authorization: basicAuthorization(launch.secret), 'content-type': 'application/json' }
  const pending = async (): Promise<JsonObject | undefined> => {
    const listed: unknown = await (await fetch(server, { headers, signal })).json()
    return Array.isArray(listed) ? listed.filter(isObject).find(({ id }) => id === request.id) : undefined
  }
  const asked = await pending()
  if (!asked)
    throw new SkeinError(
      'stale-answer',
      'opencode no longer waits for this answer',
      'Look at what it does now: skein list',
    )
  const { said, body } = kind === 'permission' ? decided(reply) : chosen(reply, asked)
  const path = `${server}/${encodeURIComponent(request.id)}/reply`
  const answer = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body), signal })
  if (!answer.ok || (await pending()))
    throw new SkeinError(
      'not-answered',
      `opencode did not take the answer (HTTP ${answer.status})`,
      'Attach and answer there',
    )
  return { receipt: `opencode took the answer ${JSON.stringify(said)} and no longer lists the request` }
}

type Reply = Parameters<Answer>[0]['reply']

function decided(reply: Reply): { said: string; body: JsonObject } {
  if ('choose' in reply)
    throw new SkeinError('bad-input', 'opencode asks for a permission, which is answered by yes or no', 'Say yes or no')
  const said = REPLIES[reply.decision]
  return { said, body: { reply: said } }
}

/** One answer per question: each is a list of labels. */
function chosen(reply: Reply, asked: JsonObject): { said: string; body: JsonObject } {
  if ('decision' in reply)
    throw new SkeinError(
      'bad-input',
      'opencode asks a question that is not answered by yes or no',
      'Choose one of its options',
    )
  const questions = listAt(asked, 'questions').filter(isObject)
  if (questions.length !== 1)
    throw new SkeinError(
      'not-answered',
      `opencode asks ${questions.length} questions at once`,
      'Attach and answer there',
    )
  const labels = listAt(questions[0], 'options')
    .filter(isObject)
    .flatMap((option) => textAt(option, 'label') ?? [])
  const wanted = reply.choose.trim().toLowerCase()
  const exact = labels.filter((label) => label.trim().toLowerCase() === wanted)
  const begins = labels.filter((label) => wanted !== '' && label.trim().toLowerCase().startsWith(wanted))
  const [only, ...others] = exact.length > 0 ? exact : begins
  if (only === undefined || others.length > 0) {
    const what = `${only === undefined ? 'No option' : 'More than one option'} matches ${JSON.stringify(reply.choose)}`
    throw new SkeinError('not-answered', what, `It offers ${labels.map((label) => JSON.stringify(label)).join(', ')}`)
  }
  return { said: only, body: { answers: [[only]] } }
}
