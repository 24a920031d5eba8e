import type { Events, PolicyReport } from '../../../home/index.js'
import { choice, optional, text, usageError } from '../../../operations/index.js'
import { command } from '../../command.js'
import { card } from '../../screen/card.js'
import type { Screen } from '../../screen/screen.js'
import { table } from '../../screen/table.js'

export const config = command({
  name: 'events config',
  summary: 'Show or change how long events are kept',
  description: 'Changes are written to your config file; the rest of it stays as it is.',
  examples: [
    ['skein events config', 'What holds now'],
    ["skein events config set 'patrol_*' 12h", 'Keep a kind of event for half a day'],
    ['skein events config set default 14d', 'Keep every other event for two weeks'],
    ['skein events config reset', 'Back to what Skein came with'],
  ],
  args: {
    action: optional(choice('action', ['set', 'reset']), 'What to change; nothing shows what holds'),
    pattern: optional(text('pattern', 'event-type'), 'With set: a type, a pattern with *, or default'),
    ttl: optional(text('ttl'), 'With set: how long, such as 12h or 30d; 0 is for ever'),
  },
  options: {},
  async run({ action, pattern, ttl }, { home, out }) {
    const change = changeOf(action, pattern, ttl)
    const policy = await change((await home()).events)
    out.result(policy, (screen) => policyView(policy, screen))
  },
})

function changeOf(
  action: 'set' | 'reset' | undefined,
  pattern: string | undefined,
  ttl: string | undefined,
): (events: Events) => Promise<PolicyReport> {
  if (action === 'set') {
    if (pattern !== undefined && ttl !== undefined) return (events) => events.setTtl(pattern, ttl)
    throw usageError('What to set is not complete', 'Usage: skein events config set <pattern> <ttl>')
  }
  if (pattern !== undefined) throw usageError('reset takes nothing more', 'Usage: skein events config reset')
  return (events) => (action === 'reset' ? events.resetTtls() : events.policy())
}

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
