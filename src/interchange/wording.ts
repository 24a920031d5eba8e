import { formatDuration, type Instant, money } from '../model/index.js'
import type { Applied } from '../privacy/index.js'
import { isWords } from './changed-files.js'
import type { ExportDocument, ExportedCall, ExportedSession, ExportedTurn } from './document.js'
import type { ExportedCost } from './exported-cost.js'

/** The words that every format uses for the same thing. Not yet escaped for any of them. */

/** `2026-01-17 09:30:00 UTC`: a document is read anywhere, so its times are in no reader's zone. */
export const momentOf = (at: Instant): string => `${at.slice(0, 19).replace('T', ' ')} UTC`

export function documentTitle({ sessions }: ExportDocument): string {
  const [first] = sessions
  if (!first) return 'No sessions'
  const title = sessionTitle(first)
  return sessions.length === 1 ? title : `${title} and ${sessions.length - 1} more`
}

export const sessionTitle = ({ session }: ExportedSession): string => session.title || `Session ${session.id}`

/** Name and value; what is not known is left out. */
export function sessionFacts({ session, turns, cost }: ExportedSession): [name: string, value: string][] {
  const ended = session.ended_at
    ? `${momentOf(session.ended_at)}, ${session.outcome ?? ''}${session.reason ? ` (${session.reason})` : ''}`
    : undefined
  const origin = session.forked_from
  const facts: [string, string | undefined][] = [
    ['Session', session.id],
    ['Tool', session.tool],
    ['Model', session.model],
    ['Agent', session.agent],
    ['Work', session.work_unit],
    ['Directory', session.cwd],
    ['Branch', session.branch],
    ['Started', momentOf(session.started_at)],
    ['Ended', ended],
    ['Continues', session.parent_id && `${session.parent_id}${session.link ? ` (${session.link})` : ''}`],
    ['Continued by', session.child_id],
    ['Forked from', origin && `${origin.session}${origin.turn === undefined ? '' : `, turn ${origin.turn}`}`],
    ['Commits', session.commits?.join(' ')],
    ['Turns', turns.length > 0 ? String(turns.length) : undefined],
    ['Cost', cost && costText(cost)],
  ]
  return facts.filter((fact): fact is [string, string] => Boolean(fact[1]))
}

/** Names the models that have no known price, because their calls are not in the sum. */
export function costText(cost: ExportedCost): string {
  const models = cost.unpriced_models.join(', ')
  return models === '' ? money(cost) : `${money(cost)} (no known price: ${models})`
}

/** What the reader must know when this is not the log itself. */
export function missingLog({ told_from, turns }: Pick<ExportedSession, 'told_from' | 'turns'>): string | undefined {
  if (told_from === 'log') return undefined
  if (told_from === 'archive') return FROM_ARCHIVE
  if (told_from === 'journal') return 'Its program writes no log: these are the turns that Skein saw, without replies.'
  return turns.length > 0
    ? 'The log of this session is gone. These are counts from when it was read, without text.'
    : 'This session has no log: it was deleted, or never read.'
}

const FROM_ARCHIVE = 'Log deleted or cut by its tool; shown from the archive.'

export function turnNotes(turn: ExportedTurn): string[] {
  return [
    turn.started_at ? momentOf(turn.started_at) : '',
    turn.duration_ms === undefined ? '' : formatDuration(turn.duration_ms),
    turn.by === 'person' ? '' : `asked by ${turn.by}`,
    turn.outcome === 'completed' ? '' : turn.outcome,
    turn.live ? '' : 'abandoned',
    turn.copied ? 'copied from its origin' : '',
    turn.compacted > 0 ? 'context summarised' : '',
    turn.tokens > 0 ? `${turn.tokens.toLocaleString('en-US')} tokens` : '',
    turn.cost ? `cost ${costText(turn.cost)}` : '',
    turn.models.join(', '),
    turn.note === undefined ? '' : `note: ${turn.note.replace(/\s+/g, ' ')}`,
  ].filter((note) => note !== '')
}

export function callNotes({ success, duration_ms, sub_agent }: ExportedCall): string[] {
  return [
    success === undefined ? 'no result' : success ? '' : 'failed',
    duration_ms === undefined || duration_ms < 1_000 ? '' : formatDuration(duration_ms),
    sub_agent ? 'sub-agent' : '',
  ].filter((note) => note !== '')
}

/** The argument that tells a call from its neighbours. Types that stand for values (tier `metadata`) tell nothing. */
export function callGist({ arguments: asked = {}, paths }: ExportedCall): string {
  if (paths) return paths.join(', ')
  const telling = [
    'command',
    'file_path',
    'filePath',
    'path',
    'notebook_path',
    'pattern',
    'query',
    'url',
    'description',
    'prompt',
  ]
  const texts = Object.entries(asked).filter((entry): entry is [string, string] => isWords(entry[1]))
  const best = telling.map((name) => texts.find(([key]) => key === name)).find((entry) => entry !== undefined)
  return (best ?? texts[0])?.[1] ?? ''
}

/** `metadata-only 3 times, github-token once`; empty when no rule was applied. */
export const redactionsLine = (applied: Applied): string =>
  Object.entries(applied)
    .map(([rule, times]) => `${rule} ${times === 1 ? 'once' : `${times} times`}`)
    .join(', ')

/** What stands in a document for a session, in order. */
export const turnsOf = ({ before, turns, sub_agents }: ExportedSession): ExportedTurn[] => [
  ...(before ? [before] : []),
  ...turns,
  ...sub_agents,
]

export function turnHeading({ number, agent }: ExportedTurn): string {
  if (number === 0) return 'Before the first turn'
  return agent === undefined ? `Turn ${number}` : `Sub-agent ${agent}, turn ${number}`
}

/** As a person reads them; undefined when the call was given none. */
export const argumentsText = ({ arguments: given }: ExportedCall): string | undefined =>
  given && Object.keys(given).length > 0 ? JSON.stringify(given, undefined, 2) : undefined
