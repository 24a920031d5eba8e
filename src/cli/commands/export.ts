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
<<<<<<< HEAD
  description: `${exportSessions.description} Nothing is overwritten.`,
=======
  summary: 'Export a session as one file to read or share',
  description:
    'Applies the privacy policy of the session’s directory again and redacts secrets everywhere. The HTML file is self-contained: open it from disk. It renders the Markdown of replies, loads no images and contains no HTML from the session. Models without a known price are named beside the cost. Nothing is overwritten.',
>>>>>>> integration
  examples: [
    ['skein export 77777777', 'As Markdown, on standard output'],
    ['skein export 77777777 --format html --output session.html', 'One page to open in a browser'],
    ['skein export wk-42 --format json', 'Every session of a unit of work'],
    ['skein export 7d20b1c4 --chain', 'With the sessions before and after it'],
  ],
<<<<<<< HEAD
  args: ['reference'],
  own: { output: optional(path('file'), 'Write to this new file, readable by you alone', { short: 'o' }) },
  order: ['format', 'output', 'chain'],
  async instead({ reference, format, chain, output }, cli) {
    const { out } = cli
    if (out.json && output === undefined) return false
    const input = readInput(exportSessions, { reference, format, chain }, cli)
    const { report, document, written } = await exported(input, contextOf(cli))
    if (output !== undefined) writeNewFile(output, written)
    out.result({ ...report, ...(output === undefined ? { document: written } : { output }) }, () =>
      output === undefined
=======
  args: {
    reference: required(
      { ...sessionRef, placeholder: '<reference>' },
      'A session, an agent, a chain or a unit of work',
    ),
  },
  options: {
    format: defaulted(choice('format', FORMATS), 'md', 'What to write'),
    output: optional(text('file'), 'Write to this new file, which only you can read', { short: 'o' }),
    chain: flag('The whole chain that a session belongs to'),
  },
  async run({ reference, format, output, chain }, cli) {
    const { out, nowMs, cwd } = cli
    const home = await cli.home()
    const sources = await exportSources(home, await sessionsNamed(home, reference, chain), cli)
    const document = exportDocument(sources, { at: instantOf(nowMs), prices: await home.history.prices() })
    const written = inFormat(document, format)
    const path = output === undefined ? undefined : resolve(cwd, output)
    if (path !== undefined) writeNewFile(path, written)
    const sessions = document.sessions.map((one) => one.session.id)
    const turns = document.sessions.reduce((sum, one) => sum + one.turns.length, 0)
    const report = { format, sessions, turns, redactions: document.redactions }
    out.result({ ...report, ...(path === undefined ? { document: written } : { output: path }) }, () =>
      path === undefined
>>>>>>> integration
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
