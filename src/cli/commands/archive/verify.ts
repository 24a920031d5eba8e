import { archiveVerify } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { plural } from '../../screen/plural.js'
import { safeText } from '../../screen/safe-text.js'

export const verify = operationCommand(archiveVerify, {
  name: 'archive verify',
  examples: [['skein archive verify', 'Is all of it readable?']],
  fails: ({ ok }) => !ok,
  show(checked, { out }) {
    const counts = `${plural(checked.logs, 'log')}, ${plural(checked.facts, 'fact')}, ${plural(checked.compared, 'log')} compared with the original`
    const verdict = checked.ok ? `The archive is intact: ${counts}` : `The archive is damaged (${counts}):`
    out.text([verdict, ...checked.problems.map((problem) => `  ${safeText(problem)}`)].join('\n'))
    if (checked.behind > 0)
      out.note(`New content that is not archived yet in ${plural(checked.behind, 'log')}: skein ingest`)
    if (checked.not_archived > 0) {
      const what = plural(checked.not_archived, 'log')
      out.note(`Not in the archive: ${what}, read before the archive existed or removed from it.`)
    }
    if (!checked.ok) out.note('If the log of a damaged file still exists, move the file away and run skein ingest.')
  },
})
