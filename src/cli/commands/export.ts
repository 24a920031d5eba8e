import { redactionsLine } from '../../interchange/index.js'
import { exported, exportSessions, optional, path, readInput } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { contextOf } from '../perform.js'
import { writeNewFile } from '../screen/new-file.js'
import { plural } from '../screen/plural.js'
import { safe, safeText } from '../screen/safe-text.js'
import { noteMissingLog } from '../views/missing-log.js'

export const exportSession = operationCommand(exportSessions, {
  name: 'export',
  description: `${exportSessions.description} Nothing is overwritten.`,
  examples: [
    ['skein export 77777777', 'As Markdown, on standard output'],
    ['skein export 77777777 --format html --output session.html', 'One page to open in a browser'],
    ['skein export wk-42 --format json', 'Every session of a unit of work'],
    ['skein export 7d20b1c4 --chain', 'With the sessions before and after it'],
  ],
  args: ['reference'],
  own: { output: optional(path('file'), 'Write to this new file, which only you can read', { short: 'o' }) },
  order: ['format', 'output', 'chain'],
  async instead({ output, ...asked }, cli) {
    const { out } = cli
    if (out.json && output === undefined) return false
    const input = readInput(exportSessions, asked, cli)
    const { report, document, written } = await exported(input, contextOf(cli))
    if (output !== undefined) writeNewFile(output, written)
    out.result({ ...report, ...(output === undefined ? { document: written } : { output }) }, () =>
      output === undefined
        ? written.trimEnd()
        : safe`Wrote ${output}: ${plural(report.sessions.length, 'session')}, ${plural(report.turns, 'turn')}`,
    )
    if (out.json) return true
    const archived = document.sessions.find((one) => one.told_from === 'archive')
    if (archived) noteMissingLog(archived, out)
    const left = redactionsLine(document.redactions)
    if (left !== '') out.note(`Left out for privacy: ${safeText(left)}`)
    return true
  },
})
