import { flag } from '../../../operations/index.js'
import { command } from '../../command.js'
import { formatBytes } from '../../screen/format-bytes.js'
import { plural } from '../../screen/plural.js'
import { archivePruneTable } from '../../views/archive-view.js'

export const prune = command({
  name: 'archive prune',
  summary: 'Remove what the settings no longer keep',
  description:
    'Removes only logs that their tools have deleted, oldest first, according to [archive] in config.toml: max_age (such as "365d"), max_size (such as "2GB"). Without --yes nothing is removed. Removed text is gone for good, also from search; its cost stays known.',
  examples: [
    ['skein archive prune', 'What would be removed'],
    ['skein archive prune --yes', 'Remove it'],
  ],
  args: {},
  options: { yes: flag('Remove it') },
  async run({ yes }, { home, out }) {
    const report = await (await home()).archive.prune({ dryRun: !yes })
    out.result(report, (screen) => {
      if (!report.is_configured)
        return 'Everything is kept: config.toml sets neither archive.max_age nor archive.max_size'
      const done = report.dry_run ? 'Would remove' : 'Removed'
      const head = `${done} ${plural(report.logs.length, 'log')} (${formatBytes(report.bytes_freed)})`
      return report.logs.length === 0 ? head : `${head}\n${archivePruneTable(report.logs, screen)}`
    })
    if (report.dry_run && report.logs.length > 0 && !out.json) out.note('Remove them with: skein archive prune --yes')
  },
})
