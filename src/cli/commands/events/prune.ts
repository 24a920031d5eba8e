import type { PruneReport } from '../../../home/index.js'
import { eventsPrune } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { formatBytes } from '../../screen/format-bytes.js'
import { plural } from '../../screen/plural.js'
import { safe } from '../../screen/safe-text.js'

export const prune = operationCommand(eventsPrune, {
  name: 'events prune',
  examples: [
    ['skein events prune --dry-run', 'What would be removed'],
    ['skein events prune --auto', 'Only if the last run was long enough ago'],
  ],
  view: reportText,
})

function reportText(report: PruneReport): string {
  if (report.skipped) return 'Not due yet'
  const types = Object.entries(report.by_type).map(([type, events]) => safe`  ${type}  ${events}`)
  const done = report.dry_run ? 'Would drop' : 'Dropped'
  const kept = report.retained > 0 ? `; ${report.retained} expired ones are still kept` : ''
  return [`${done} ${plural(report.pruned, 'event')} (${formatBytes(report.bytes_freed)})${kept}`, ...types].join('\n')
}
