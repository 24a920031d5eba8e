import type { PolicyApplication } from '../../../home/index.js'
import { flag } from '../../../operations/index.js'
import { command } from '../../command.js'
import { grouped } from '../../screen/money.js'
import { plural } from '../../screen/plural.js'
import { expectShortRun } from '../../short-run.js'

export const apply = command({
  name: 'privacy apply',
  summary: 'Apply the current policy to what is stored',
  description:
    'A policy counts for what is read from then on. This applies it to what was read before: logs that still exist are read again from their beginning, of the others what is stored is filtered again, which can only take away. May be interrupted; running it again does the rest.',
  examples: [
    ['skein privacy apply --dry-run', 'How much was kept under another policy?'],
    ['skein privacy apply', 'Apply the policy to all of it'],
  ],
  args: {},
  options: { 'dry-run': flag('Change nothing') },
  async run({ 'dry-run': dryRun }, { home, out }) {
    expectShortRun()
    const report = await (await home()).privacy.apply({ dryRun })
    out.result(report, () => reportLine(report))
  },
})

function reportLine(report: PolicyApplication): string {
  const { dry_run, logs, outdated, read_again, filtered_again, passages_changed, passages_dropped } = report
  if (outdated === 0) return `The text of all ${plural(logs, 'log')} was kept under the policy of today.`
  const verb = dry_run ? 'Would apply' : 'Applied'
  return [
    `${verb} the policy of today to ${grouped(outdated)} of ${plural(logs, 'log')}:`,
    `  ${plural(read_again, 'log')} ${dry_run ? 'to be ' : ''}read again`,
    `  ${plural(filtered_again, 'log')} whose file or project is gone, filtered as kept: ${plural(passages_changed, 'passage')} changed, ${grouped(passages_dropped)} dropped`,
  ].join('\n')
}
