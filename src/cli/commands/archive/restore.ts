import { archiveRestore, optional, path } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { writeNewFile } from '../../screen/new-file.js'
import { plural } from '../../screen/plural.js'
import { safe, safeText } from '../../screen/safe-text.js'

export const restore = operationCommand(archiveRestore, {
  name: 'archive restore',
<<<<<<< HEAD
  description: `${archiveRestore.description} Nothing is overwritten.`,
=======
  summary: 'Write an archived session as a document',
  description:
    "Markdown with everything that was said, in order. It contains what was kept, filtered for privacy. It is not the tool's log, and no tool can resume from it. Nothing is overwritten.",
>>>>>>> integration
  examples: [
    ['skein archive restore 22222222', 'On standard output'],
    ['skein archive restore 22222222 --output session.md', 'To a new file that only you can read'],
  ],
<<<<<<< HEAD
  args: ['session'],
  own: { output: optional(path('file'), 'Write to this new file', { short: 'o' }) },
  order: ['output', 'version'],
  fails: ({ problems }) => problems.length > 0,
  json: ({ document, ...report }, { out }, { output }) => {
    if (output !== undefined) writeNewFile(output, document)
    out.result({ ...report, ...(output === undefined ? { document } : { output }) }, () => '')
=======
  args: { session: required(sessionRef, 'The beginning of its id, or its agent') },
  options: {
    output: optional(text('file'), 'Write to this new file', { short: 'o' }),
    version: optional(
      count,
      'An older version, from before its log was rewritten; skein archive list --json lists them',
    ),
>>>>>>> integration
  },
  show({ document, logs, problems }, { out }, { output }) {
    if (output !== undefined) writeNewFile(output, document)
    out.text(output === undefined ? document.trimEnd() : safe`Wrote ${output}: ${plural(logs, 'log')}`)
    for (const problem of problems) out.note(`Not complete: ${safeText(problem)}`)
  },
})
