import { archiveVerify } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { plural } from '../../screen/plural.js'
import { safeText } from '../../screen/safe-text.js'

export const verify = operationCommand(archiveVerify, {
  name: 'archive verify',
  examples: [['skein archive verify', 'Is all of it readable?']],
  fails: ({ ok }) => !ok,
  view(checked) {
    const counts = `${plural(checked.logs, 'log')}, ${plural(checked.facts, 'fact')}, ${plural(checked.compared, 'log')} compared with the original`
    const verdict = checked.ok ? `The archive is whole: ${counts}` : `The archive is damaged (${counts}):`
    return [verdict, ...checked.problems.map((problem) => `  ${safeText(problem)}`)].join('\n')
  },
})
