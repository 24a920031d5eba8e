import type { PrimeSource } from '../handoff/marker.js'
import type { Prime } from './prime.js'
import type { HookedMail, HookedUnit } from './primed-work.js'

/** Programs cut what a hook prints at 10,000 characters, some without saying so. */
export const HOOK_CHARS = 9_500
const TITLE_CHARS = 200
const MAIL_CHARS = 4_000
const SHOWN = 20

/**
 * What the model is given, as plain text. Its parts come in a fixed order: who it is, its role, the handoff, the checkpoint, its work and
 * mail, its inbox, what to do now. Words of others are quoted, so that they cannot pass for Skein's.
 */
export function primeText(prime: Prime, { mostChars = Number.POSITIVE_INFINITY } = {}): string {
  const parts = !prime.agent ? outsideParts(prime) : prime.isLight ? lightParts(prime) : fullParts(prime)
  const last = parts.pop() ?? ''
  const text = parts.join('\n\n')
  const room = mostChars - last.length - CUT.length - 2
  return `${text.length > room ? text.slice(0, Math.max(0, room)) + CUT : text}${text === '' ? '' : '\n\n'}${last}`
}

const CUT = '\n[cut: run `skein prime` to read all of it]'

/** Nobody's agent: whoever started it says what to do. */
function outsideParts({ session, notes }: Prime): string[] {
  const what = session ? `this session (${session})` : 'this session'
  return [`Skein: ${what} belongs to none of Skein's agents.`, ...notes.map((note) => `Note: ${note}`)]
}

function fullParts(prime: Prime): string[] {
  return [
    identityLine(prime),
    ...prime.notes.map((note) => `Note: ${note}`),
    ...roleParts(prime),
    ...handoffParts(prime),
    ...checkpointParts(prime),
    ...workParts(prime),
    ...inboxParts(prime),
    directive(prime),
  ]
}

/** After a compaction or a resume the model still has the rest; of its mail, what was saved for this moment is told as a whole. */
function lightParts(prime: Prime): string[] {
  return [
    `${identityLine(prime)}${wordsOf(prime.source)}`,
    ...prime.notes.map((note) => `Note: ${note}`),
    ...handoffParts(prime),
    ...checkpointParts(prime),
    ...lightMailParts(prime),
    prime.isHeld ? directive(prime) : 'Continue your current task.',
  ]
}

function identityLine({ agent, role, session, cwd }: Prime): string {
  const facts = [
    ...(role ? [`role: ${line(role.name)}`] : []),
    ...(session ? [`session: ${session}`] : []),
    ...(cwd ? [`directory: ${line(cwd)}`] : []),
  ]
  return `Skein: You are the agent ${line(agent?.address ?? '')}${facts.length > 0 ? ` (${facts.join(', ')})` : ''}.`
}

const SOURCE_WORDS: Partial<Record<PrimeSource, string>> = {
  compact: ' Your context was compacted.',
  resume: ' Your session was resumed.',
}
const wordsOf = (source: PrimeSource | undefined): string => (source && SOURCE_WORDS[source]) ?? ''

/** The user's own words about the role, not quoted: they are instructions. */
const roleParts = ({ role }: Prime): string[] =>
  [role?.context, role?.instructions].flatMap((text) => (text ? [withoutControls(text).trim()] : []))

function handoffParts({ handoff, state, session, parent }: Prime): string[] {
  if (handoff) {
    const facts = [
      `from session ${handoff.from}`,
      `at ${handoff.at}`,
      ...(handoff.reason ? [`reason: ${line(handoff.reason)}`] : []),
    ]
    const about = handoff.subject ? `\n${quote(handoff.subject, TITLE_CHARS)}` : ''
    const isSame = handoff.from === session
    return [
      isSame
        ? `Handoff: your state was saved before your context was cut (${facts.join(', ')}).${about}`
        : `Handoff: a predecessor handed its work over to you (${facts.join(', ')}). The handoff is complete: do not hand off again because of it.${about}`,
    ]
  }
  if (state === 'crash-recovery') {
    const whose = parent ? ` (session ${parent})` : ''
    return [
      `Recovery: the session before this one${whose} ended without a handoff. Check the state of its work before you continue it.`,
    ]
  }
  return []
}

/** What a crash has cut off, for a conversation that goes on as well as for its successor. */
function checkpointParts({ after, checkpoint, handoff }: Prime): string[] {
  if (handoff) return []
  const cut = after
    ? [
        `Recovery: your process ended unexpectedly at ${after.at} (${line(after.reason)}) and was started again. Check the state of your last action before you continue.`,
      ]
    : []
  if (!checkpoint) return cut
  const {
    modified_files: files = [],
    timestamp,
    current_step,
    step_title,
    molecule_id,
    hooked_bead,
    branch,
    last_commit,
    notes,
  } = checkpoint
  const facts = [
    ...(current_step
      ? [
          `step ${line(current_step)}${step_title ? ` (${line(step_title)})` : ''}${molecule_id ? ` of ${line(molecule_id)}` : ''}`,
        ]
      : []),
    ...(hooked_bead ? [`work ${line(hooked_bead)}`] : []),
    ...(branch ? [`branch ${line(branch)}`] : []),
    ...(last_commit ? [`commit ${line(last_commit)}`] : []),
    ...(files.length > 0 ? [`${files.length} changed files: ${files.slice(0, SHOWN).map(line).join(', ')}`] : []),
  ]
  return [
    ...cut,
    `Checkpoint of ${timestamp}: ${facts.join('; ') || 'nothing but its time'}.${notes ? `\n${quote(notes, MAIL_CHARS)}` : ''}`,
  ]
}

function workParts({ work, mail }: Prime): string[] {
  if (work.length + mail.length === 0) return []
  const units = work.slice(0, SHOWN).map(workLines)
  const letters = mail.slice(0, SHOWN).map(mailLines)
  const more = Math.max(0, work.length - SHOWN) + Math.max(0, mail.length - SHOWN)
  return [
    ['Your hook holds:', ...units, ...letters, ...(more > 0 ? [`- and ${more} more: skein work list`] : [])].join('\n'),
  ]
}

function lightMailParts({ mail, handoff }: Prime): string[] {
  const letters = mail
    .slice(0, SHOWN)
    .map((one) =>
      one.id === handoff?.mail
        ? mailLines(one)
        : `${mailLines({ ...one, body: '' })} (skein mail read ${line(one.id)})`,
    )
  return letters.length === 0 ? [] : [['Your hook holds:', ...letters].join('\n')]
}

const workLines = ({ id, title, status, body }: HookedUnit): string =>
  `- work ${line(id)} (${status}): ${line(title)}${body ? `\n${quote(body, MAIL_CHARS)}` : ''}`

const mailLines = ({ id, from, subject, body }: HookedMail): string =>
  `- mail ${line(id)} from ${line(from)}: ${line(subject)}${body ? `\n${quote(body, MAIL_CHARS)}` : ''}`

const inboxParts = ({ unread }: Prime): string[] => (unread > 0 ? [`Inbox: ${unread} unread (skein mail inbox).`] : [])

function directive({ isHeld, work, mail }: Prime): string {
  if (isHeld) return 'Do not act as this agent. Tell your user about the conflict above and wait.'
  if (work.length + mail.length > 0) return 'Begin with the work on your hook now. Do not wait for instructions.'
  return 'No work is on your hook. Wait for instructions.'
}

/** On one line, bounded. */
export const line = (text: string): string => bounded(withoutControls(text).replace(/\s+/g, ' ').trim(), TITLE_CHARS)

/** Words of others: every line marked, bounded, nothing in it that a terminal would act on. */
export const quote = (text: string, mostChars: number): string =>
  bounded(withoutControls(text).trim(), mostChars)
    .split('\n')
    .map((one) => `> ${one}`)
    .join('\n')

const bounded = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most)}…` : text)

// An escape sequence as a whole, then every other control, format or bidi character but tab and line feed.
const SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g
const CONTROLS = /(?![\t\n])[\p{Cc}\p{Cs}\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu

export const withoutControls = (text: string): string =>
  text.replace(/\r\n?/g, '\n').replace(SEQUENCES, '').replace(CONTROLS, '')
