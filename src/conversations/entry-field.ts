import { SkeinError } from '../model/index.js'
import type { EntryPatch } from './entry.js'

/** How the text of a value becomes the value. */
type FieldKind = 'text' | 'count' | 'switch' | 'thread' | readonly string[]

/**
 * The fields of an entry that a person may set. The others follow from what happens (tokens, sessions, snapshots) or name
 * files and sessions, which have commands of their own.
 */
const FIELDS: Readonly<Partial<Record<keyof EntryPatch, FieldKind>>> = {
  label: 'text',
  displayName: 'text',
  subject: 'text',
  groupChannel: 'text',
  space: 'text',
  channel: 'text',
  chatType: ['dm', 'group', 'channel'],
  lastChannel: 'text',
  lastTo: 'text',
  lastAccountId: 'text',
  lastThreadId: 'thread',
  sendPolicy: ['allow', 'deny'],
  groupActivation: ['mention', 'always'],
  groupActivationNeedsSystemIntro: 'switch',
  providerOverride: 'text',
  modelOverride: 'text',
  authProfileOverride: 'text',
  authProfileOverrideSource: ['auto', 'user'],
  execHost: 'text',
  execSecurity: 'text',
  execAsk: 'text',
  execNode: 'text',
  thinkingLevel: ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
  verboseLevel: 'text',
  reasoningLevel: 'text',
  elevatedLevel: 'text',
  responseUsage: ['on', 'off', 'tokens', 'full'],
  ttsAuto: ['off', 'always', 'inbound', 'tagged'],
  queueMode: ['steer', 'followup', 'collect', 'steer-backlog', 'steer+backlog', 'queue', 'interrupt'],
  queueDebounceMs: 'count',
  queueCap: 'count',
  queueDrop: ['old', 'new', 'summarize'],
}

export const SETTABLE_FIELDS = Object.keys(FIELDS)

/** Reads `field=value`; `field=` removes the field. */
export function parseFieldChange(text: string): EntryPatch {
  const at = text.indexOf('=')
  const name = at < 0 ? text : text.slice(0, at)
  if (at < 0) throw badField(`"${text}" has no "="`, 'Write field=value, or field= to remove it')
  const kind = Object.hasOwn(FIELDS, name) ? FIELDS[name as keyof EntryPatch] : undefined
  if (!kind) throw badField(`"${name}" is not a field that can be set`, `Use one of ${SETTABLE_FIELDS.join(', ')}`)
  const value = text.slice(at + 1)
  return { [name]: value === '' ? undefined : fieldValue(name, kind, value) }
}

function fieldValue(name: string, kind: FieldKind, text: string): string | number | boolean {
  if (kind === 'text') return text
  if (kind === 'thread') return /^(0|[1-9]\d{0,14})$/.test(text) ? Number(text) : text
  if (kind === 'count') {
    if (/^\d{1,9}$/.test(text)) return Number(text)
    throw badField(`${name} is "${text}", not a whole number`, `Write one, such as ${name}=20`)
  }
  const words = kind === 'switch' ? ['true', 'false'] : kind
  if (!words.includes(text)) throw badField(`${name} cannot be "${text}"`, `Use one of ${words.join(', ')}`)
  return kind === 'switch' ? text === 'true' : text
}

const badField = (what: string, next: string): SkeinError => new SkeinError('bad-input', what, next)
