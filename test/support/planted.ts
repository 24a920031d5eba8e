import { Random } from '../privacy/held-out/random.js'

/** A log of Claude Code with a secret in every place that has words, and more secrets for what is said elsewhere. */
export const SESSION = '5ec2e700-0000-4000-8000-000000000002'
const r = new Random(4_711)
export const token = (): string => `ghp_${r.word(36)}`
/** One of its own for each place, so that a leak names it. */
export const PLANTED = {
  prompt: token(),
  reply: token(),
  thinking: token(),
  argument: token(),
  result: token(),
  'tool name': token(),
  'branch in the log': token(),
  'model in the log': token(),
  'title in the log': token(),
  'branch of the repository': token(),
  'session title': token(),
  'session branch': token(),
  'event payload': token(),
  'name of a field': token(),
} as const
const AT = '2026-01-17T09:00:00.000Z'

export function logOf(cwd: string): string {
  const line = (at: number, kind: string, message: object): string =>
    JSON.stringify({
      type: kind,
      message,
      sessionId: SESSION,
      cwd,
      version: '2.1.325',
      gitBranch: `fix/${PLANTED['branch in the log']}`,
      uuid: `u${at}`,
      parentUuid: at === 0 ? null : `u${at - 1}`,
      timestamp: AT,
    })
  const said = (id: string, ...content: object[]): object => ({
    id,
    role: 'assistant',
    model: `claude-${PLANTED['model in the log']}`,
    content,
    usage: { input_tokens: 10, output_tokens: 20 },
  })
  return [
    line(0, 'user', { role: 'user', content: `please use ${PLANTED.prompt}` }),
    line(1, 'assistant', said('m1', { type: 'thinking', thinking: PLANTED.thinking })),
    line(2, 'assistant', said('m2', { type: 'text', text: `the reply ${PLANTED.reply}` })),
    line(
      3,
      'assistant',
      said('m3', { type: 'tool_use', id: 't1', name: 'Bash', input: { command: `x ${PLANTED.argument}` } }),
    ),
    line(4, 'user', { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: PLANTED.result }] }),
    line(
      5,
      'assistant',
      said('m4', {
        type: 'tool_use',
        id: 't2',
        name: PLANTED['tool name'],
        input: { [PLANTED['name of a field']]: 1 },
      }),
    ),
    JSON.stringify({
      type: 'custom-title',
      customTitle: `work with ${PLANTED['title in the log']}`,
      sessionId: SESSION,
    }),
    '',
  ].join('\n')
}
