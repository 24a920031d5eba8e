import type { EventStats } from '../../../home/index.js'
import { eventsStats } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { card } from '../../screen/card.js'
import { formatBytes } from '../../screen/format-bytes.js'
import { localAndRelativeTime } from '../../screen/moment.js'
import type { Screen } from '../../screen/screen.js'
import { table } from '../../screen/table.js'

export const stats = operationCommand(eventsStats, {
  name: 'events stats',
  examples: [['skein events stats', 'What the journal holds']],
  view: statsView,
})

function statsView(counted: EventStats, screen: Screen): string {
  const when = (at: EventStats['oldest_event']) => at && localAndRelativeTime(at, screen.nowMs)
  const pruned = counted.auto_prune
  const facts = card(
    [
      ['events', counted.events],
      ['size', `${formatBytes(counted.bytes)} in ${counted.segments} segments`],
      ['oldest', when(counted.oldest_event)],
      ['newest', when(counted.newest_event)],
      ['at risk', counted.at_risk],
      ['expired', counted.expired],
      ['unreadable', counted.unreadable_lines || undefined],
      ['unknown types', counted.unknown_types || undefined],
      ['last prune', when(pruned.last_prune_time)],
      ['pruned', pruned.prune_count ? `${pruned.total_pruned} (${formatBytes(pruned.total_bytes_freed)})` : undefined],
    ],
    screen,
  )
  return [facts, countTable('AGE', counted.by_age, screen), countTable('TYPE', counted.by_type, screen)]
    .filter((part) => part !== '')
    .join('\n\n')
}

function countTable(header: string, counts: Readonly<Record<string, number>>, screen: Screen): string {
  const rows = Object.entries(counts)
  if (rows.length === 0) return ''
  return table(
    rows,
    [
      { header, text: ([name]) => name, shrinkTo: 10 },
      { header: 'EVENTS', text: ([, events]) => String(events), align: 'right' },
    ],
    screen,
  )
}
