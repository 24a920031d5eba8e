import type { ArchivedLog, ArchivePrune, ArchiveStats } from '../../home/index.js'
import { card } from '../screen/card.js'
import { formatBytes } from '../screen/format-bytes.js'
import { localTime } from '../screen/moment.js'
import { grouped } from '../screen/money.js'
import type { Screen } from '../screen/screen.js'
import { table } from '../screen/table.js'

export function archiveTable(logs: readonly ArchivedLog[], screen: Screen): string {
  return table(
    logs,
    [
      { header: 'SESSION', text: (log) => log.session ?? '', shrinkTo: 8, shrink: 'cut' },
      { header: 'SUB-AGENT', text: (log) => log.agent ?? '', shrinkTo: 8 },
      { header: 'TOOL', text: (log) => log.tool },
      { header: 'WRITTEN', text: (log) => localTime(log.modified_at) },
      { header: 'LOG', text: (log) => log.log, paint: (paint, log) => (log.log === 'gone' ? paint.yellow : paint.dim) },
      { header: 'SIZE', text: (log) => formatBytes(log.stored_bytes), align: 'right' },
      { header: 'RATIO', text: ratioText, align: 'right' },
      { header: 'STATE', text: (log) => (log.is_live ? 'growing' : 'sealed') },
      { header: 'OLDER', text: (log) => (log.older_versions.length > 0 ? String(log.older_versions.length) : '') },
    ],
    screen,
  )
}

export function archiveCard(stats: ArchiveStats, screen: Screen): string {
  const { retention } = stats
  const tools = Object.entries(stats.by_tool).map(
    ([tool, { logs, stored_bytes }]) => `${tool} ${grouped(logs)} (${formatBytes(stored_bytes)})`,
  )
  const kept = [
    ...(retention.max_age === undefined ? [] : [`removed after ${retention.max_age}`]),
    ...(retention.max_bytes === undefined ? [] : [`at most ${formatBytes(retention.max_bytes)}`]),
  ]
  return card(
    [
      ['logs', grouped(stats.logs)],
      ['sessions', grouped(stats.sessions)],
      ['growing', grouped(stats.live)],
      ['log deleted', grouped(stats.gone)],
      ['older versions', stats.older_versions || undefined],
      ['facts', grouped(stats.facts)],
      ['size', `${formatBytes(stats.stored_bytes)} of ${formatBytes(stats.bytes)} (${percent(stats.ratio)})`],
      ['oldest', stats.oldest && localTime(stats.oldest)],
      ['newest', stats.newest && localTime(stats.newest)],
      ['tools', tools.join(', ')],
      ['kept', kept.length > 0 ? kept.join(', ') : 'for ever'],
    ],
    screen,
  )
}

export function archivePruneTable(logs: ArchivePrune['logs'], screen: Screen): string {
  return table(
    logs,
    [
      { header: 'SESSION', text: (log) => log.session ?? '', shrinkTo: 8, shrink: 'cut' },
      { header: 'TOOL', text: (log) => log.tool },
      { header: 'WRITTEN', text: (log) => localTime(log.modified_at) },
      { header: 'SIZE', text: (log) => formatBytes(log.stored_bytes), align: 'right' },
      { header: 'BECAUSE OF', text: (log) => log.because },
    ],
    screen,
  )
}

const ratioText = ({ bytes, stored_bytes }: ArchivedLog): string => (bytes === 0 ? '' : percent(stored_bytes / bytes))
const percent = (share: number): string => `${Math.round(share * 100)} %`
