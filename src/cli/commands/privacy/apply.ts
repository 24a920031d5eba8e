import type { PolicyApplication } from '../../../home/index.js'
import { privacyApply } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { grouped } from '../../screen/money.js'
import { plural } from '../../screen/plural.js'
import { expectShortRun } from '../../short-run.js'

export const apply = operationCommand(privacyApply, {
  name: 'privacy apply',
  examples: [
    ['skein privacy apply --dry-run', 'How much was stored under another policy?'],
    ['skein privacy apply', 'Apply the policy to all of it'],
  ],
  prepare(typed) {
    expectShortRun()
    return typed
  },
  view: reportLine,
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
