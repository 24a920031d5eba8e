import { choice, defaulted, freeText, optional } from '../../../operations/index.js'
import { type Applied, redact, redactAsCommand } from '../../../privacy/index.js'
import { command } from '../../command.js'
import { plural } from '../../screen/plural.js'
import { safeText } from '../../screen/safe-text.js'

export const test = command({
  name: 'privacy test',
  summary: 'Show what would be kept of a text',
  description:
    'Reads standard input if no text is given. Secrets are redacted in every tier; the tier redacted also hides variables, named values and long base64.',
  examples: [
    ["skein privacy test 'curl -u ada:Tr0ub4dor https://example.test'", 'A password on a command line'],
    ["skein privacy test --tier redacted 'deploy --to $HOST key=abc'", 'As for a command'],
  ],
  args: { text: optional(freeText('text'), 'The text') },
  options: { tier: defaulted(choice('tier', ['full', 'redacted']), 'full', 'Whose rules') },
  async run({ text, tier }, { out, stdin }) {
    const given = text ?? stdin()
    const kept = tier === 'redacted' ? redactAsCommand(given) : redact(given)
    out.result({ text: kept.text, rules: kept.applied }, () =>
      [...kept.text.split('\n').map(safeText), ...ruleLines(kept.applied)].join('\n'),
    )
  },
})

/** A blank line, then which rule was applied how often. */
function ruleLines(applied: Applied): string[] {
  const rules = Object.entries(applied)
  return rules.length === 0 ? [] : ['', ...rules.map(([rule, times]) => `${rule}: ${plural(times, 'time')}`)]
}
