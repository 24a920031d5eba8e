import type { PolicyReport } from '../../../home/index.js'
import { eventsConfig } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { card } from '../../screen/card.js'
import type { Screen } from '../../screen/screen.js'
import { table } from '../../screen/table.js'

export const config = operationCommand(eventsConfig, {
  name: 'events config',
  examples: [
    ['skein events config', 'The current settings'],
    ["skein events config set 'patrol_*' 12h", 'Keep a kind of event for half a day'],
    ['skein events config set default 14d', 'Keep every other event for two weeks'],
    ['skein events config reset', 'Back to the defaults'],
  ],
  args: ['action', 'pattern', 'ttl'],
  view: policyView,
})

function policyView(policy: PolicyReport, screen: Screen): string {
  const facts = card(
    [
      ['default', policy.default_ttl],
      ['always kept', `the newest ${policy.min_retain}`],
      ['pruned', `at most every ${policy.prune_interval}`],
      ['file', policy.config_file],
    ],
    screen,
  )
  const ttls = table(
    Object.entries(policy.ttls),
    [
      { header: 'TYPE', text: ([type]) => type, shrinkTo: 10 },
      { header: 'KEPT', text: ([, ttl]) => ttl, align: 'right' },
    ],
    screen,
  )
  return `${facts}\n\n${ttls}`
}
