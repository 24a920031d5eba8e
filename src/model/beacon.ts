import type { Preset } from './role-preset.js'
import type { Instant } from './time.js'

/** Why a session was started. Others are possible; these have instructions of their own. */
export const TOPICS = ['cold-start', 'handoff', 'attach', 'assigned', 'patrol', 'ready'] as const

export interface BeaconFacts {
  /** For people and models, never like a path: `crew max (rig: gastown)`. See `recipientOf`. */
  recipient: string
  /** `self` for a handoff. */
  sender: string
  at: Instant
  /** The IANA zone that the time is written in. */
  zone: string
  topic?: string
  molecule?: string
  preset?: Preset | undefined
  /** False for a program without hooks, which has to be told to read its context itself. */
  isPrimed?: boolean
}

/** The first line of a session's first prompt: who it is for, who started it, when and why. */
export interface Beacon {
  line: string
  /** What the agent is to do now; empty where the topic says enough. */
  instructions: string
}

const PREFIXES = { gastown: '[GAS TOWN]', skein: '[SKEIN]' } as const

export function beacon(facts: BeaconFacts): Beacon {
  const { recipient, sender, at, zone, topic = '', molecule = '', preset, isPrimed = true } = facts
  const [about, unit] = [word(topic), word(molecule)]
  const why = about && unit ? `${about}:${unit}` : about || unit || 'ready'
  const line = `${PREFIXES[preset ?? 'skein']} ${plain(recipient)} <- ${plain(sender)} • ${minuteOf(at, zone)} • ${why}`
  return { line, instructions: isPrimed ? instructionsFor(about) : 'Run `skein prime` to initialize your context.' }
}

/** The beacon as one prompt. */
export const beaconText = ({ line, instructions }: Beacon): string =>
  instructions === '' ? line : `${line}\n\n${instructions}`

const CHECK_LIST = [
  'Check your hook and mail, then act on the hook if present:',
  '1. `skein prime` - shows hooked work (if any)',
  '2. `skein mail inbox` - check for messages',
  '3. If work is hooked → execute it immediately',
  '4. If nothing hooked → wait for instructions',
].join('\n')

function instructionsFor(topic: string): string {
  switch (topic) {
    case 'handoff':
    case 'cold-start':
    case 'attach':
      return CHECK_LIST
    case 'assigned':
      return 'Run `skein prime` and begin work on your hook.'
    case 'patrol':
      return 'Run `skein prime` and begin patrol.'
    default:
      return ''
  }
}

export interface ReadBeacon {
  recipient: string
  sender: string
  /** Minutes, in the zone of who wrote it: `2025-12-30T15:42`. */
  at: string
  topic: string
  molecule?: string
  preset?: Preset
}

const LINE = /^\[(GAS TOWN|SKEIN)\] (.+?) <- (.+?) • (\d{4}-\d\d-\d\dT\d\d:\d\d) • (\S+)$/u

/** What the first line of a prompt says, if it is a beacon. A molecule without a topic is read as the topic, as it is written. */
export function readBeacon(text: string): ReadBeacon | undefined {
  const [, prefix, recipient, sender, at, why] = LINE.exec(text.split('\n', 1)[0] ?? '') ?? []
  if (recipient === undefined || sender === undefined || at === undefined || why === undefined) return undefined
  const colon = why.indexOf(':')
  const [topic, molecule] = colon < 0 ? [why, ''] : [why.slice(0, colon), why.slice(colon + 1)]
  return {
    recipient,
    sender,
    at,
    topic,
    ...(molecule ? { molecule } : {}),
    ...(prefix === 'GAS TOWN' ? { preset: 'gastown' as const } : {}),
  }
}

/** One line that does not end the beacon early, whatever a person wrote into it. */
const plain = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replaceAll('•', '·')
    .replaceAll('<-', '←')
    .trim()
    .slice(0, 200) || 'unknown'

const word = (text: string): string => (text.trim() === '' ? '' : plain(text).replaceAll(' ', '-').slice(0, 100))

/** As Gas Town writes it: local time, to the minute, without a zone. */
function minuteOf(at: Instant, zone: string): string {
  const options = {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  } as const
  const parts = new Intl.DateTimeFormat('en-US', options).formatToParts(Date.parse(at))
  const part = (type: string): string => parts.find((one) => one.type === type)?.value ?? ''
  return `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}T${part('hour')}:${part('minute')}`
}
