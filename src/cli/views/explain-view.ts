import type { CommitFile } from '../../home/index.js'
import type { ExplanationDocument } from '../../operations/index.js'
import { relativeTime } from '../screen/moment.js'
import { money } from '../screen/money.js'
import { plural } from '../screen/plural.js'
import { safeText } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'
import { table } from '../screen/table.js'

type Writer = ExplanationDocument['writers'][number]

const LEFT_OUT: Readonly<Record<NonNullable<CommitFile['left_out']>, string>> = {
  count: 'not looked into: too many files',
  size: 'not looked into: too large',
  time: 'not looked into: no time left',
}

/** The commit, who wrote it, what of each file, and who made it. */
export function explainView(found: ExplanationDocument, screen: Screen): string {
  const { commit, author, authored_at, summary, added, removed, files, writers, notes } = found
  const { paint } = screen
  const of = `${plural(added, 'line')} added, ${removed} removed in ${plural(files.length, 'file')}`
  return [
    `${paint.bold(commit.slice(0, 8))} ${safeText(author)}, ${relativeTime(authored_at, screen.nowMs)}: ${safeText(summary)}`,
    `${of}${found.base === undefined ? ', the first commit' : `, compared with ${found.base.slice(0, 8)}`}`,
    ...(writers.length === 0 ? [] : ['', writersTable(found, screen)]),
    ...(files.length === 0 ? [] : ['', filesTable(found, screen)]),
    ...part(makersOf(found)),
    ...part(notes.map((note) => paint.dim(safeText(note)))),
  ].join('\n')
}

const part = (lines: readonly string[]): string[] => (lines.length === 0 ? [] : ['', ...lines])

function writersTable(found: ExplanationDocument, screen: Screen): string {
  const size = ({ added, removed }: Writer): number => added + removed
  return table(
    [...found.writers].sort((a, b) => size(b) - size(a)),
    [
      { header: 'WHO', text: (writer) => whoIs(writer, found), shrinkTo: 12, paint: (paint) => paint.cyan },
      { header: 'TURN', text: ({ turn }) => (turn === undefined ? '' : String(turn)), align: 'right' },
      { header: 'WHEN', text: ({ at }) => (at === undefined ? '' : relativeTime(at, screen.nowMs)) },
      { header: 'COST', text: costOf, align: 'right' },
      { header: 'ADDED', text: ({ added }) => String(added), align: 'right' },
      { header: 'REMOVED', text: ({ removed }) => String(removed), align: 'right' },
      { header: 'FILES', text: ({ files }) => String(files), align: 'right' },
      { header: 'WHY', text: ({ prompt, summary }) => prompt ?? summary ?? '', shrinkTo: 20 },
    ],
    screen,
  )
}

const costOf = ({ cost_micro_usd: micro_usd, unpriced_calls = 0 }: Writer): string =>
  micro_usd === undefined ? '' : money({ micro_usd, unpriced_calls })

function filesTable(found: ExplanationDocument, screen: Screen): string {
  return table(
    found.files,
    [
      { header: 'FILE', text: nameOf, shrinkTo: 16 },
      { header: 'ADDED', text: ({ added }) => (added === undefined ? '' : String(added)), align: 'right' },
      { header: 'REMOVED', text: ({ removed }) => (removed === undefined ? '' : String(removed)), align: 'right' },
      { header: 'BY', text: (file) => partsOf(file, found), shrinkTo: 20 },
    ],
    screen,
  )
}

const nameOf = ({ path, from, status, kind }: CommitFile): string =>
  [
    from === undefined ? path : `${from} → ${path}`,
    ...(status === 'removed' ? ['(removed)'] : []),
    ...(kind === 'text' ? [] : [`(${kind})`]),
  ].join(' ')

function partsOf({ parts, writer, left_out }: CommitFile, found: ExplanationDocument): string {
  if (left_out !== undefined) return LEFT_OUT[left_out]
  const shares = parts.map((one) => `${nameAt(one.writer, found)} ${sign('+', one.added)}${sign('-', one.removed)}`)
  return (shares.length > 0 || writer === undefined ? shares : [nameAt(writer, found)])
    .map((one) => one.trim())
    .join(', ')
}

const sign = (mark: string, lines: number): string => (lines === 0 ? '' : ` ${mark}${lines}`)

function nameAt(place: number, found: ExplanationDocument): string {
  const writer = found.writers[place]
  if (!writer) return ''
  return `${whoIs(writer, found)}${writer.turn === undefined ? '' : ` turn ${writer.turn}`}`
}

function whoIs(writer: Writer, { author }: ExplanationDocument): string {
  switch (writer.kind) {
    case 'turn': {
      const unsure = writer.beside ? ' or others' : writer.since ? ' (not certain)' : ''
      return `${writer.agent ?? writer.session?.slice(0, 8) ?? ''}${unsure}`
    }
    case 'commit':
      return `${writer.commit?.slice(0, 8) ?? ''} ${writer.author ?? ''}`
    case 'edit':
      return 'a person'
    case 'before':
      return 'before the first turn'
    default:
      return `${author}, seen in no turn`
  }
}

/** Who wrote a line and who committed it are two things. */
function makersOf({ made_by, committer, author }: ExplanationDocument): string[] {
  const makers = made_by.map(({ agent, session, turn, commit, relation }) => {
    const who = safeText(`${agent ?? session.slice(0, 8)}${turn === undefined ? '' : ` in turn ${turn}`}`)
    if (relation === 'this') return `Committed by ${who}`
    return `Its ${relation} ${commit.slice(0, 8)} was committed by ${who}`
  })
  return makers.length > 0 || committer === author ? makers : [`Committed by ${safeText(committer)}`]
}
