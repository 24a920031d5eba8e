import { SkeinError } from '../model/index.js'
import { type AgentName, parseAgentName } from './agent-name.js'

declare const keyBrand: unique symbol
/** The name of one conversation, in its one normal spelling: `agent:main:discord:dm:u1`. */
export type ConversationKey = string & { readonly [keyBrand]: 'ConversationKey' }

export const KEY_KINDS = ['main', 'dm', 'group', 'channel', 'subagent', 'cron', 'hook', 'named'] as const
export type KeyKind = (typeof KEY_KINDS)[number]

/** What a key says about its conversation. `thread` is set beside any kind of chat. */
export interface KeyParts {
  key: ConversationKey
  agent: AgentName
  kind: KeyKind
  channel?: string
  account?: string
  /** The peer of a dm, the id of a group or channel, the job of a cron run, the name of a subagent or hook. */
  id?: string
  thread?: string
}

const MAX_KEY = 256
/** What is spelled in several ways is one kind here: the original renamed dm to direct, and Matrix calls a group a room. */
const CHAT_WORDS: Readonly<Record<string, 'dm' | 'group' | 'channel'>> = {
  dm: 'dm',
  direct: 'dm',
  group: 'group',
  channel: 'channel',
  room: 'channel',
}
const THREAD = /^(.+):(?:thread|topic):(.+)$/is
const WORK_WORDS = ['subagent', 'cron', 'hook'] as const

/**
 * Reads `agent:<id>:<rest>` and gives it its normal spelling. `<rest>` is one of
 *
 *     main                                   <channel>:(group|channel|room):<id>
 *     (dm|direct):<peer>                     subagent:<name>[:…]
 *     <channel>:(dm|direct):<peer>           cron:<job>[:run:<run>]
 *     <channel>:<account>:(dm|direct):<peer> hook:<id>
 *     any chat + :(thread|topic):<thread>    <any other name>
 *
 * A malformed key throws. It never falls back to a default agent: that would open somebody else's conversation.
 */
export function parseKey(text: string): KeyParts {
  const trimmed = text.trim()
  const flaw = flawOf(trimmed)
  if (flaw) throw badKey(text, flaw)
  const segments = trimmed.split(':')
  if (segments.some((segment) => segment === '')) throw badKey(text, 'it has an empty part')
  const [scheme = '', agentText = '', ...rest] = segments
  if (scheme.toLowerCase() !== 'agent') throw badKey(text, 'it does not start with "agent:"')
  if (rest.length === 0) throw badKey(text, 'nothing follows the agent id')
  let agent: AgentName
  try {
    agent = parseAgentName(agentText)
  } catch (error) {
    throw badKey(text, 'its agent id is malformed', error)
  }
  return partsOf(agent, rest, text)
}

function partsOf(agent: AgentName, rest: string[], text: string): KeyParts {
  const normal = (tail: string): ConversationKey => `agent:${agent}:${tail}` as ConversationKey
  const first = (rest[0] ?? '').toLowerCase()
  const work = WORK_WORDS.find((word) => word === first)
  if (work) {
    if (rest.length < 2) throw badKey(text, `nothing follows "${work}"`)
    const id = rest.slice(1).join(':').toLowerCase()
    return { key: normal(`${work}:${id}`), agent, kind: work, id }
  }
  const at = chatWordAt(rest)
  if (at < 0) {
    const tail = rest.join(':').toLowerCase()
    const threaded = THREAD.exec(tail)
    const thread = threaded ? { thread: threaded[2] ?? '' } : {}
    const name = threaded?.[1] ?? tail
    const key = normal(threaded ? `${name}:thread:${thread.thread}` : tail)
    return name === 'main'
      ? { key, agent, kind: 'main', ...thread }
      : { key, agent, kind: 'named', id: name, ...thread }
  }
  const kind = CHAT_WORDS[(rest[at] ?? '').toLowerCase()] ?? 'dm'
  if (rest.length === at + 1) throw badKey(text, `nothing follows "${rest[at]}"`)
  const [channel, account] = rest.slice(0, at).map((part) => part.toLowerCase())
  if (!channel && kind !== 'dm') throw badKey(text, `"${kind}" needs a channel before it`)
  const tail = rest.slice(at + 1).join(':')
  const threaded = THREAD.exec(tail)
  const fold = isCaseSensitive(channel, kind) ? (part: string) => part : (part: string) => part.toLowerCase()
  const id = fold(threaded?.[1] ?? tail)
  const thread = threaded ? (channel === 'matrix' ? threaded[2] : threaded[2]?.toLowerCase()) : undefined
  const place = [channel, account, kind, id].filter((part) => part !== undefined).join(':')
  return {
    key: normal(thread === undefined ? place : `${place}:thread:${thread}`),
    agent,
    kind,
    ...(channel === undefined ? {} : { channel }),
    ...(account === undefined ? {} : { account }),
    id,
    ...(thread === undefined ? {} : { thread }),
  }
}

/** Where the word dm, group, … stands: after nothing, after a channel, or (dm only) after a channel and an account. */
function chatWordAt(rest: string[]): number {
  const word = (index: number) => CHAT_WORDS[(rest[index] ?? '').toLowerCase()]
  if (word(1)) return 1
  if (rest.length > 1 && word(0)) return 0
  if (rest.length > 2 && word(2) === 'dm') return 2
  return -1
}

/** Signal's group ids are base64 and Matrix's room ids are opaque: folding their case would merge two groups. */
const isCaseSensitive = (channel: string | undefined, kind: KeyKind): boolean =>
  (channel === 'signal' && kind === 'group') || (channel === 'matrix' && kind !== 'dm')

/** Why this text can be no key at all, in any grammar; undefined when nothing speaks against it. */
export function flawOf(text: string): string | undefined {
  if (text === '') return 'it is empty'
  if (text.length > MAX_KEY) return `it is longer than ${MAX_KEY} characters`
  if (/[\u0000-\u001f\u007f\u2028\u2029]/.test(text)) return 'it contains a control character'
  if (text.includes('\\')) return 'it contains a backslash'
  if (text.split(/[:/]/).some((part) => part === '..' || part === '.')) return 'it contains a path'
  if (text.split(':').some((part) => part === '__proto__')) return 'it contains "__proto__"'
  return undefined
}

/** The conversations a gateway can name. */
export type KeySpec =
  | { agent: string; kind: 'main' }
  | { agent: string; kind: 'dm'; peer: string; channel?: string; account?: string; thread?: string | number }
  | { agent: string; kind: 'group' | 'channel'; channel: string; id: string; thread?: string | number }
  | { agent: string; kind: 'subagent' | 'cron' | 'hook'; id: string; run?: string }

/** Builds a key. The result is read back, so a peer id that would change the meaning of the key is refused. */
export function conversationKey(spec: KeySpec): ConversationKey {
  const parts = ((): (string | number | undefined)[] => {
    switch (spec.kind) {
      case 'main':
        return ['main']
      case 'dm':
        return [spec.channel, spec.account, 'dm', spec.peer, ...threadParts(spec.thread)]
      case 'group':
      case 'channel':
        return [spec.channel, spec.kind, spec.id, ...threadParts(spec.thread)]
      default:
        return [spec.kind, spec.id, ...(spec.run === undefined ? [] : ['run', spec.run])]
    }
  })()
  const text = ['agent', spec.agent, ...parts.filter((part) => part !== undefined)].join(':')
  const read = parseKey(text)
  const meant = 'thread' in spec && spec.thread !== undefined ? String(spec.thread).toLowerCase() : undefined
  if (read.kind !== spec.kind || read.thread?.toLowerCase() !== meant)
    throw badKey(text, 'one of its parts would be read as another part')
  return read.key
}

const threadParts = (thread: string | number | undefined): (string | number)[] =>
  thread === undefined ? [] : ['thread', thread]

export function threadKey(place: ConversationKey, thread: string | number): ConversationKey {
  if (parseKey(place).thread !== undefined) throw badKey(place, 'it is already a thread')
  const read = parseKey(`${place}:thread:${thread}`)
  if (read.thread?.toLowerCase() !== String(thread).toLowerCase())
    throw badKey(`${place}:thread:${thread}`, 'one of its parts would be read as another part')
  return read.key
}

export function badKey(text: string, flaw: string, cause?: unknown): SkeinError {
  const shown = JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)
  return new SkeinError(
    'bad-key',
    `${shown} is not a conversation key: ${flaw}`,
    'A key looks like agent:main:discord:dm:user123 (docs/CONVERSATIONS.md lists every form)',
    { cause },
  )
}
