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
    'A policy applies to what is read after it changed. This applies it to what was read before: logs that still exist are read again from their beginning; for the others, the stored text is filtered again, which can only remove more. May be interrupted; run it again to finish.',
  examples: [
    ['skein privacy apply --dry-run', 'How much was stored under another policy?'],
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
  if (outdated === 0) return `The text of all ${plural(logs, 'log')} was stored under the current policy.`
  const verb = dry_run ? 'Would apply' : 'Applied'
  return [
    `${verb} the current policy to ${grouped(outdated)} of ${plural(logs, 'log')}:`,
    `  ${plural(read_again, 'log')} ${dry_run ? 'to be ' : ''}read again`,
    `  ${plural(filtered_again, 'log')} whose file or project is gone, filtered as kept: ${plural(passages_changed, 'passage')} changed, ${grouped(passages_dropped)} dropped`,
  ].join('\n')
}
