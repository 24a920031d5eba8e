import { optional, text } from '../../../operations/index.js'
import { loadPolicy, policyReport } from '../../../privacy/index.js'
import { command } from '../../command.js'
import { table } from '../../screen/table.js'
import { outdatedNote } from '../../views/outdated-note.js'

export const check = command({
  name: 'privacy check',
  summary: 'Show which policy applies here',
  description:
    'A project’s .skein/privacy.yaml or .gastown/privacy.yaml, in this directory or above it, can make your own policy stricter, not looser.',
  examples: [
    ['skein privacy check', 'What is kept for each kind of tool, and which file decides'],
    ['skein privacy check mcp__db__query', 'For one tool'],
  ],
  args: { tool: optional(text('tool'), 'Only this tool') },
  options: {},
  async run({ tool }, { home, out, cwd, privacyFile }) {
    const policy = await loadPolicy({ userFile: privacyFile, directory: cwd })
    const report = policyReport(policy, tool === undefined ? undefined : [tool])
    const stored = await (await home()).privacy.stored()
    out.result({ ...report, stored }, (screen) =>
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
    if (stored.outdated > 0 && !out.json) out.note(outdatedNote(stored.outdated))
  },
})
