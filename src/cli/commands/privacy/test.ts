import { freeText, optional, privacyTest } from '../../../operations/index.js'
import type { Applied } from '../../../privacy/index.js'
import { operationCommand } from '../../operation-command.js'
import { plural } from '../../screen/plural.js'
import { safeText } from '../../screen/safe-text.js'

export const test = operationCommand(privacyTest, {
  name: 'privacy test',
  description: `Reads standard input if no text is given. ${privacyTest.description}`,
  examples: [
    ["skein privacy test 'curl -u ada:Tr0ub4dor https://example.test'", 'A password on a command line'],
    ["skein privacy test --tier redacted 'deploy --to $HOST key=abc'", 'As for a command'],
  ],
  args: ['text'],
  fields: { text: optional(freeText('text'), 'The text') },
  prepare: ({ text, tier }, { stdin }) => ({ text: text ?? stdin(), tier }),
  view: ({ text, rules }) => [...text.split('\n').map(safeText), ...ruleLines(rules)].join('\n'),
})

/** A blank line, then which rule was applied how often. */
function ruleLines(applied: Applied): string[] {
  const rules = Object.entries(applied)
  return rules.length === 0 ? [] : ['', ...rules.map(([rule, times]) => `${rule}: ${plural(times, 'time')}`)]
}
