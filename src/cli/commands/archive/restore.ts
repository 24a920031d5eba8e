import { archiveRestore, optional, path } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { writeNewFile } from '../../screen/new-file.js'
import { plural } from '../../screen/plural.js'
import { safe, safeText } from '../../screen/safe-text.js'

export const restore = operationCommand(archiveRestore, {
  name: 'archive restore',
  description: `${archiveRestore.description} Nothing is overwritten.`,
  examples: [
    ['skein archive restore 22222222', 'On standard output'],
    ['skein archive restore 22222222 --output session.md', 'To a new file that only you can read'],
  ],
  args: ['session'],
  own: { output: optional(path('file'), 'Write to this new file', { short: 'o' }) },
  order: ['output', 'version'],
  fails: ({ problems }) => problems.length > 0,
  json: ({ document, ...report }, { out }, { output }) => {
    if (output !== undefined) writeNewFile(output, document)
    out.result({ ...report, ...(output === undefined ? { document } : { output }) }, () => '')
  },
  show({ document, logs, problems }, { out }, { output }) {
    if (output !== undefined) writeNewFile(output, document)
    out.text(output === undefined ? document.trimEnd() : safe`Wrote ${output}: ${plural(logs, 'log')}`)
    for (const problem of problems) out.note(`Not complete: ${safeText(problem)}`)
  },
})
