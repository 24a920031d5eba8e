import { indexCheck } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { plural } from '../../screen/plural.js'
import { safeText } from '../../screen/safe-text.js'

export const check = operationCommand(indexCheck, {
  name: 'index check',
  examples: [['skein index check', 'Does the index equal a rebuild?']],
  fails: ({ ok }) => !ok,
  show(checked, { out }) {
    const lines =
      checked.unreadable_lines > 0 ? [`${plural(checked.unreadable_lines, 'journal line')} cannot be read`] : []
    const counts = `${plural(checked.events, 'event')}, ${plural(checked.sessions, 'session')}, ${plural(checked.agents, 'agent')}`
    const verdict = checked.ok ? `The index is correct: ${counts}` : 'The index differs from the journal:'
    out.text([verdict, ...checked.problems.map((problem) => `  ${safeText(problem)}`), ...lines].join('\n'))
    if (!checked.ok) out.note('Repair it: skein index rebuild')
  },
})
