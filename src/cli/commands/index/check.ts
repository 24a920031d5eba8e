import { command } from '../../command.js'
import { plural } from '../../screen/plural.js'
import { safeText } from '../../screen/safe-text.js'

export const check = command({
  name: 'index check',
  summary: 'Compare the index with the journal',
  description: 'Exits with 1 if they differ.',
  examples: [['skein index check', 'Does the index equal a rebuild?']],
  args: {},
  options: {},
  async run(_, { home, out }) {
    const checked = await (await home()).index.check()
    if (!checked.ok) out.fails()
    out.result(checked, () => {
      const lines =
        checked.unreadable_lines > 0 ? [`${plural(checked.unreadable_lines, 'journal line')} cannot be read`] : []
      const counts = `${plural(checked.events, 'event')}, ${plural(checked.sessions, 'session')}, ${plural(checked.agents, 'agent')}`
      const verdict = checked.ok ? `The index is correct: ${counts}` : 'The index differs from the journal:'
      return [verdict, ...checked.problems.map((problem) => `  ${safeText(problem)}`), ...lines].join('\n')
    })
    if (!checked.ok && !out.json) out.note('Repair it: skein index rebuild')
  },
})
