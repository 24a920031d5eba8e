import type { PruneReport } from '../../../home/index.js'
import { flag } from '../../../operations/index.js'
import { command } from '../../command.js'
import { formatBytes } from '../../screen/format-bytes.js'
import { plural } from '../../screen/plural.js'
import { safe } from '../../screen/safe-text.js'

export const prune = command({
  name: 'events prune',
  summary: 'Remove expired events',
  description: 'Sessions and agents stay as they are: only the record of how they came about becomes shorter.',
  examples: [
    ['skein events prune --dry-run', 'What would go'],
    ['skein events prune --auto', 'Only if the last time was long enough ago'],
  ],
  args: {},
  options: {
    'dry-run': flag('Change nothing, only count'),
    auto: flag('Do nothing when the last time was less than an hour ago'),
  },
  async run({ 'dry-run': dryRun, auto }, { home, out }) {
    const report = await (await home()).events.prune({ dryRun, auto })
    out.result(report, () => reportText(report))
  },
})

function reportText(report: PruneReport): string {
  if (report.skipped) return 'Not due yet'
  const types = Object.entries(report.by_type).map(([type, events]) => safe`  ${type}  ${events}`)
  const done = report.dry_run ? 'Would drop' : 'Dropped'
  const kept = report.retained > 0 ? `; ${report.retained} expired ones are still kept` : ''
  return [`${done} ${plural(report.pruned, 'event')} (${formatBytes(report.bytes_freed)})${kept}`, ...types].join('\n')
}
