import { plainLine, plainText, quotedText } from '../../model/index.js'
import type { Digest, FailedCommand, FileCount, OpenEnds } from './digest.js'

/** About a screen and a half: the successor reads it before it does anything. */
export const DIGEST_BYTES = 6_144

/** Lengths at full size. What does not fit is made shorter everywhere, not cut off at the end: open ends come last and matter most. */
const FULL = { goal: 1_200, prompt: 500, sentence: 240, line: 160, reply: 1_600, items: 16, files: 20 }
const SHRINK = 0.8

/** A digest as text for a model: every word of somebody else is quoted. */
export function digestText(digest: Digest, most = DIGEST_BYTES): string {
  for (let scale = 1; ; scale *= SHRINK) {
    const text = sectionsOf(digest, scale).join('\n\n')
    if (Buffer.byteLength(text) <= most) return text
    if (scale < 0.05)
      return `${Buffer.from(text)
        .subarray(0, most)
        .toString()
        .replace(/\ufffd+$/, '')}`
  }
}

function sectionsOf(digest: Digest, scale: number): string[] {
  const most = (length: number): number => Math.max(24, Math.floor(length * scale))
  const items = <T>(list: readonly T[], full: number): readonly T[] =>
    list.slice(-Math.max(1, Math.floor(full * scale)))
  const files = digest.files.slice(0, Math.max(1, Math.floor(FULL.files * scale)))
  return [
    goalOf(digest, most),
    section(
      'Decisions and corrections',
      items(digest.decisions, FULL.items / 2).map(
        ({ by, text }) => `- ${by === 'user' ? 'user' : 'agent'}: "${plainLine(text, most(FULL.sentence))}"`,
      ),
    ),
    section('Files', [
      ...files.map((file) => fileLine(file, most(FULL.line))),
      ...leftOut(digest.files.length - files.length, 'more files'),
      ...leftOut(digest.unnamed_changes, 'changes to files whose paths are not kept'),
    ]),
    section(
      'Commands that failed',
      items(digest.failed, FULL.items / 2).map((one) => failedLine(one, most(FULL.line))),
    ),
    section('Open ends', openLines(digest.open, items, most)),
  ].filter((one) => one !== '')
}

function goalOf({ goal, turns }: Digest, most: (length: number) => number): string {
  const { first, latest } = goal
  if (first === undefined) return ''
  const parts = [`### Goal (first prompt of ${turns})`, quotedText(first, most(FULL.goal))]
  if (latest.length > 0) parts.push('Latest prompts:', ...latest.map((text) => quotedText(text, most(FULL.prompt))))
  return parts.join('\n\n')
}

const section = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? '' : [`### ${title}`, '', ...lines].join('\n')

const leftOut = (count: number, what: string): string[] => (count > 0 ? [`- ${count} ${what}`] : [])

function fileLine({ path, changes, reads }: FileCount, most: number): string {
  const counts = [changes > 0 ? `changed ${changes}x` : '', reads > 0 ? `read ${reads}x` : ''].filter(Boolean)
  return `- ${plainLine(path, most)} (${counts.join(', ')})`
}

function failedLine({ command, error, times, is_mended }: FailedCommand, most: number): string {
  const often = times > 1 ? `, ${times} times` : ''
  const why = error === undefined ? '' : `: "${plainLine(error, most)}"`
  return `- \`${plainLine(command, most).replaceAll('`', "'")}\` (${is_mended ? 'succeeded later' : 'not succeeded since'}${often})${why}`
}

function openLines(
  { turn, error, question, calls, todo, last_reply }: OpenEnds,
  items: <T>(list: readonly T[], full: number) => readonly T[],
  most: (length: number) => number,
): string[] {
  const lines = [
    ...(turn === 'aborted' ? ['- The last turn was interrupted.'] : []),
    ...(turn === 'failed' ? [`- The last turn failed${error ? `: "${plainLine(error, most(FULL.line))}"` : '.'}`] : []),
    ...(turn === 'open' && last_reply === undefined ? ['- The last turn has no reply.'] : []),
    ...(question ? [`- Unanswered question: "${plainLine(question, most(FULL.sentence))}"`] : []),
    ...items(calls, FULL.items / 2).map(
      (one) => `- Without a result, not done as far as is known: "${plainLine(one, most(FULL.line))}"`,
    ),
    ...items(todo, FULL.items).map((one) => `- [ ] "${plainLine(one, most(FULL.line))}"`),
  ]
  if (last_reply === undefined) return lines
  return [...lines, ...(lines.length > 0 ? [''] : []), 'Last reply:', '', endOf(last_reply, most(FULL.reply))]
}

/** Of a long reply the beginning says what was done and the end what is left. */
function endOf(reply: string, most: number): string {
  const text = plainText(reply).trim()
  if (text.length <= most) return quotedText(text, most)
  const head = text.slice(0, Math.floor(most / 4))
  const tail = text.slice(-Math.floor((most * 3) / 4))
  return `${quotedText(head, most)}\n> …\n${quotedText(tail, most)}`
}
