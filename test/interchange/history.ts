import type { SessionHistory } from '../../src/home/index.js'
import { type Instant, parseSessionId } from '../../src/model/index.js'
import type { LoggedToolCall, LoggedTurn } from '../../src/tools/index.js'

export const AT = '2026-01-17T09:30:00.000Z' as Instant

export const aTurn = (told: Partial<LoggedTurn> = {}): LoggedTurn => ({
  number: 1,
  prompt: 'What is a skein?',
  by: 'person',
  reply: 'A bundle of threads.',
  outcome: 'completed',
  compacted: 0,
  follows: 0,
  live: true,
  copied: false,
  tool_calls: [],
  usage: [],
  ...told,
})

export const aCall = (told: Partial<LoggedToolCall> = {}): LoggedToolCall => ({
  id: 'call-1',
  name: 'Bash',
  arguments: { command: 'ls' },
  result: 'README.md',
  success: true,
  ...told,
})

export const aHistory = (told: Partial<SessionHistory> = {}): SessionHistory => ({
  session: { id: parseSessionId('0f3c9a12'), chain_id: parseSessionId('0f3c9a12'), started_at: AT, tool: 'claude' },
  from_log: true,
  told_from: 'log',
  older_versions: 0,
  news: {},
  turns: [aTurn()],
  sub_agents: [],
  counters: [],
  steps: [],
  ...told,
})

/** The places of a session that hold what others wrote. */
export interface Texts {
  title: string
  id: string
  agent: string
  cwd: string
  prompt: string
  remark: string
  reply: string
  error: string
  tool: string
  argument: string
  value: string
  result: string
  model: string
}

export const PLACES = [
  'title',
  'id',
  'agent',
  'cwd',
  'prompt',
  'remark',
  'reply',
  'error',
  'tool',
  'argument',
  'value',
  'result',
  'model',
] as const satisfies readonly (keyof Texts)[]

/** A session with a text of somebody else's choice in every place that can have one, also inside a sub-agent. */
export function historyWith(texts: Texts): SessionHistory {
  const call = aCall({
    name: texts.tool,
    arguments: { [texts.argument]: texts.value, deep: [{ deeper: texts.value }] },
    result: texts.result,
    success: false,
  })
  const remarks = [{ text: texts.remark, after_calls: 0 }]
  const inner = aTurn({ agent: texts.agent, prompt: texts.prompt, remarks, reply: texts.reply, tool_calls: [call] })
  const turn = aTurn({
    prompt: texts.prompt,
    remarks,
    reply: texts.reply,
    error: texts.error,
    outcome: 'failed',
    tool_calls: [call, { ...call, name: 'Read', arguments: { file_path: texts.value }, sub_agent: [inner] }],
  })
  return aHistory({
    session: {
      id: texts.id as SessionHistory['session']['id'],
      chain_id: parseSessionId('0f3c9a12'),
      started_at: AT,
      title: texts.title,
      cwd: texts.cwd,
      model: texts.model,
    },
    turns: [turn, aTurn({ number: 2, prompt: texts.prompt })],
    sub_agents: [inner],
  })
}

/** The same text in every place. */
export const everywhere = (text: string): Texts =>
  Object.fromEntries(PLACES.map((place) => [place, text])) as unknown as Texts
