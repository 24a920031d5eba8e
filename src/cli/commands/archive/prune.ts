import { archivePrune } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { formatBytes } from '../../screen/format-bytes.js'
import { plural } from '../../screen/plural.js'
import { archivePruneTable } from '../../views/archive-view.js'

export const prune = operationCommand(archivePrune, {
  name: 'archive prune',
  examples: [
    ['skein archive prune', 'What would be removed'],
    ['skein archive prune --yes', 'Remove it'],
  ],
  show(report, { out }) {
    out.result(report, (screen) => {
      if (!report.is_configured)
        return 'Everything is kept: config.toml sets neither archive.max_age nor archive.max_size'
      const done = report.dry_run ? 'Would remove' : 'Removed'
      const head = `${done} ${plural(report.logs.length, 'log')} (${formatBytes(report.bytes_freed)})`
      return report.logs.length === 0 ? head : `${head}\n${archivePruneTable(report.logs, screen)}`
    })
    if (report.dry_run && report.logs.length > 0) out.note('Remove them with: skein archive prune --yes')
  },
})
