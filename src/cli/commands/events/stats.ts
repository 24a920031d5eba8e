import type { EventStats } from '../../../home/index.js'
import { type Instant, msOf } from '../../../model/index.js'
import { eventsStats } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { card } from '../../screen/card.js'
import { formatBytes } from '../../screen/format-bytes.js'
import { localAndRelativeTime } from '../../screen/moment.js'
import type { Screen } from '../../screen/screen.js'
import { table } from '../../screen/table.js'

const MOST_TYPES = 5

export const stats = operationCommand(eventsStats, {
  name: 'events stats',
  examples: [['skein events stats', 'What the journal holds, and what retention did']],
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
      ['it removed', pruned.last && lastLine(pruned.last)],
      [
        'it kept',
        pruned.last?.retained ? `${pruned.last.retained} expired events (min_retain, or not safe yet)` : undefined,
      ],
      ['it packed', pruned.last?.archived_sessions ? `${pruned.last.archived_sessions} session records` : undefined],
      ['next prune', pruned.next_prune_time && nextPrune(pruned.next_prune_time, screen.nowMs)],
      [
        'pruned',
        pruned.prune_count
          ? `${pruned.total_pruned} in ${pruned.prune_count} runs (${formatBytes(pruned.total_bytes_freed)})`
          : undefined,
      ],
      ['archive', pruned.archive && archiveLine(pruned.archive, when(pruned.archive.at))],
    ],
    screen,
  )
  return [facts, countTable('AGE', counted.by_age, screen), countTable('TYPE', counted.by_type, screen)]
    .filter((part) => part !== '')
    .join('\n\n')
}

/** Pruning is part of the daemon's work, so one that is due waits for it. */
function nextPrune(at: Instant, nowMs: number): string {
  return msOf(at) <= nowMs
    ? 'due: by the daemon, or skein events prune'
    : `not before ${localAndRelativeTime(at, nowMs)}`
}

/** `12 expired events (3 KB): patrol_started 9, mail 3`. */
function lastLine({ pruned, bytes_freed, by_type }: NonNullable<EventStats['auto_prune']['last']>): string {
  const types = Object.entries(by_type).sort(([, a], [, b]) => b - a)
  const most = types.slice(0, MOST_TYPES).map(([type, count]) => `${type} ${count}`)
  const rest = types.length > MOST_TYPES ? [`${types.length - MOST_TYPES} other types`] : []
  const which = most.length === 0 ? '' : `: ${[...most, ...rest].join(', ')}`
  return `${pruned} expired events (${formatBytes(bytes_freed)})${which}`
}

function archiveLine(
  { logs, bytes_freed, by_age, by_size }: NonNullable<EventStats['auto_prune']['archive']>,
  at: string | undefined,
): string {
  const why = [by_age > 0 && `${by_age} by max_age`, by_size > 0 && `${by_size} by max_size`].filter(Boolean)
  return `${logs} logs removed ${at} (${formatBytes(bytes_freed)}): ${why.join(', ')}`
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
