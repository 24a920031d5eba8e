import type { Blame, LineWriter } from '../../home/index.js'
import { relativeTime } from '../screen/moment.js'
import type { Screen } from '../screen/screen.js'
import { table } from '../screen/table.js'

/** One row per line; what is the same as in the row above is said once. */
export function blameView({ lines, writers }: Blame, screen: Screen): string {
  const rows = lines.map(({ number, text, writer }, at) => ({
    number,
    text,
    writer: lines[at - 1]?.writer === writer ? undefined : writers[writer],
  }))
  return table(
    rows,
    [
      { header: 'WHO', text: ({ writer }) => whoIs(writer), shrinkTo: 12, paint: (paint) => paint.cyan },
      { header: 'TURN', text: ({ writer }) => (writer?.turn === undefined ? '' : String(writer.turn)) },
      { header: 'WHEN', text: ({ writer }) => (writer?.at === undefined ? '' : relativeTime(writer.at, screen.nowMs)) },
      { header: 'WHY', text: ({ writer }) => writer?.prompt ?? writer?.summary ?? '', shrinkTo: 20 },
      { header: 'LINE', text: ({ number }) => String(number) },
      { header: 'TEXT', text: ({ text }) => text.replaceAll('\t', '    '), shrinkTo: 30 },
    ],
    screen,
  )
}

function whoIs(writer: LineWriter | undefined): string {
  switch (writer?.kind) {
    case 'turn':
      return `${writer.agent ?? writer.session?.slice(0, 8) ?? ''}${writer.beside ? ' or others' : ''}`
    case 'commit':
      return `${writer.commit?.slice(0, 8) ?? ''} ${writer.author ?? ''}`
    case 'edit':
      return 'a person'
    case 'before':
      return 'before the first turn'
    case 'now':
      return 'since the last turn'
    default:
      return ''
  }
}
