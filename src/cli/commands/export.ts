import { resolve } from 'node:path'
import { type ExportDocument, exportDocument, markdownOf, pageOf, redactionsLine } from '../../interchange/index.js'
import { instantOf, unreachable } from '../../model/index.js'
import { choice, defaulted, flag, optional, required, sessionRef, text } from '../../operations/index.js'
import { command } from '../command.js'
import { exportSources, sessionsNamed } from '../input/export-sources.js'
import { jsonDocument } from '../screen/json.js'
import { writeNewFile } from '../screen/new-file.js'
import { plural } from '../screen/plural.js'
import { safe, safeText } from '../screen/safe-text.js'
import { noteMissingLog } from '../views/missing-log.js'

const FORMATS = ['md', 'html', 'json'] as const

export const exportSession = command({
  name: 'export',
  summary: 'Export a session as one file to read or share',
  description:
    'Applies the privacy policy of the session’s directory again and redacts secrets everywhere. The HTML file is self-contained: open it from disk. It renders the Markdown of replies, loads no images and contains no HTML from the session. Models without a known price are named beside the cost. Nothing is overwritten.',
  examples: [
    ['skein export 77777777', 'As Markdown, on standard output'],
    ['skein export 77777777 --format html --output session.html', 'One page to open in a browser'],
    ['skein export wk-42 --format json', 'Every session of a unit of work'],
    ['skein export 7d20b1c4 --chain', 'With the sessions before and after it'],
  ],
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
        ? written.trimEnd()
        : safe`Wrote ${path}: ${plural(sessions.length, 'session')}, ${plural(turns, 'turn')}`,
    )
    if (out.json) return
    const archived = document.sessions.find((one) => one.told_from === 'archive')
    if (archived) noteMissingLog(archived, out)
    const left = redactionsLine(document.redactions)
    if (left !== '') out.note(`Left out for privacy: ${safeText(left)}`)
  },
})

function inFormat(document: ExportDocument, format: (typeof FORMATS)[number]): string {
  switch (format) {
    case 'md':
      return markdownOf(document)
    case 'html':
      return pageOf(document)
    case 'json':
      return `${jsonDocument(document)}\n`
    default:
      return unreachable(format)
  }
}
