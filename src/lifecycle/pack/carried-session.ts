import { isSessionId, LINKS, OUTCOMES, type Session, SkeinError, shapes } from '../../model/index.js'
import { type CarriedCode, carriedCode } from '../../snapshots/index.js'
import type { Conversation } from '../../tools/index.js'

/** What a pack says of itself. Members have the words and the files. */
export interface PackContents {
  v: 1
  made_at: string
  is_verbatim: boolean
  /** In the order of their chain; the last one is what is resumed. */
  sessions: CarriedSession[]
  code?: CarriedCode
}

export interface CarriedSession {
  /** Without what is only known where it ran: panes, hosts, steps. */
  session: CarriedRecord
  /** The last turn that is carried, as the source counts, and how many there are. */
  turn?: number
  turns: number
  told_from: 'log' | 'archive'
  cost?: { calls: number; micro_usd: number; unpriced_calls: number }
  conversation: string
  /** The log of its own program: `cut` as it was, `written` from what the privacy policy leaves. */
  native?: { member: string; name: string; how: 'cut' | 'written' }
}

const RECORD = [
  'id',
  'tool',
  'title',
  'agent',
  'role',
  'started_at',
  'ended_at',
  'outcome',
  'reason',
  'parent_id',
  'chain_id',
  'link',
  'forked_from',
  'cwd',
  'branch',
  'model',
  'commits',
  'work_unit',
] as const satisfies readonly (keyof Session)[]

export type CarriedRecord = Pick<Session, (typeof RECORD)[number]>

export const recordOf = (session: Session): CarriedRecord =>
  Object.fromEntries(
    RECORD.flatMap((name) => (session[name] === undefined ? [] : [[name, session[name]]])),
  ) as CarriedRecord

const { count, flag, isObject, listOf, misfit, path, shape, shaped, text, texts, time } = shapes

const isMember: shapes.Check = (value) => typeof value === 'string' && /^[a-z0-9][a-z0-9.-]{0,63}$/.test(value)
const oneOf =
  (choices: readonly string[]): shapes.Check =>
  (value) =>
    choices.includes(value as string)
/** The name of a file, and nothing that leads elsewhere. */
const isFileName: shapes.Check = (value) => typeof value === 'string' && /^[A-Za-z0-9][\w.-]{0,199}$/.test(value)

const SESSION = shape({
  id: isSessionId,
  'tool?': text,
  'title?': text,
  'agent?': text,
  'role?': text,
  started_at: time,
  'ended_at?': time,
  'outcome?': oneOf(OUTCOMES),
  'reason?': text,
  'parent_id?': isSessionId,
  chain_id: isSessionId,
  'link?': oneOf(LINKS),
  'forked_from?': shaped(shape({ session: isSessionId, 'turn?': count })),
  'cwd?': path,
  'branch?': text,
  'model?': text,
  'commits?': texts,
  'work_unit?': text,
})

const CARRIED = shape({
  session: shaped(SESSION),
  'turn?': count,
  turns: count,
  told_from: (value) => value === 'log' || value === 'archive',
  'cost?': shaped(shape({ calls: count, micro_usd: count, unpriced_calls: count })),
  conversation: isMember,
  'native?': shaped(
    shape({ member: isMember, name: isFileName, how: (value) => value === 'cut' || value === 'written' }),
  ),
})

const CONTENTS = shape({
  v: (value) => value === 1,
  made_at: time,
  is_verbatim: flag,
  sessions: (value) => listOf(shaped(CARRIED))(value) && (value as unknown[]).length > 0,
  'code?': (value) => carriedCode(value) !== undefined,
})

export function contentsOf(value: unknown, path: string): PackContents {
  const wrong = isObject(value) ? misfit(value, CONTENTS) : 'its list'
  if (wrong === undefined) return value as unknown as PackContents
  throw strange(path, wrong)
}

const isPart: shapes.Check = (value) => {
  if (!isObject(value)) return false
  if (value.kind === 'text') return typeof value.text === 'string'
  return value.kind === 'call' && misfit(value, CALL) === undefined
}

const CALL = shape({
  id: text,
  name: text,
  input: isObject,
  'result?': shaped(shape({ text, is_error: flag, is_shortened: flag })),
})

const CONVERSATION = shape({
  tool: text,
  session: isSessionId,
  'cwd?': path,
  'title?': text,
  'model?': text,
  'started_at?': time,
  turns: listOf(
    shaped(
      shape({
        number: count,
        prompt: text,
        'at?': time,
        'ended_at?': time,
        parts: listOf(isPart),
        outcome: text,
        'error?': text,
      }),
    ),
  ),
  left_out: listOf(shaped(shape({ what: text, count }))),
})

export function conversationIn(value: unknown, path: string): Conversation {
  const wrong = isObject(value) ? misfit(value, CONVERSATION) : 'conversation'
  if (wrong === undefined) return value as unknown as Conversation
  throw strange(path, wrong)
}

const strange = (path: string, what: string): SkeinError =>
  new SkeinError('pack-damaged', `${path} is damaged: ${what} is not what Skein writes`, 'Pack the session again')
