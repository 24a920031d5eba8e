import { privacyCheck } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { table } from '../../screen/table.js'
import { outdatedNote } from '../../views/outdated-note.js'

export const check = operationCommand(privacyCheck, {
  name: 'privacy check',
  summary: 'Show which policy applies here',
  examples: [
    ['skein privacy check', 'What is kept for each kind of tool, and which file decides'],
    ['skein privacy check mcp__db__query', 'For one tool'],
  ],
  args: ['tool'],
  fields: { directory: undefined },
  prepare: ({ tool }, { cwd }) => ({ tool, directory: cwd }),
  show(report, { out }) {
    out.result(report, (screen) =>
      table(
        report.tools,
        [
          { header: 'TOOL', text: (one) => one.tool, shrinkTo: 12 },
          { header: 'ARGUMENTS', text: (one) => one.arguments },
          { header: 'RESULT', text: (one) => one.result },
          { header: 'SAID BY', text: (one) => one.source, shrinkTo: 20 },
        ],
        screen,
      ),
    )
    if (report.stored.outdated > 0) out.note(outdatedNote(report.stored.outdated))
  },
})
