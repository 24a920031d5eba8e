import type { IngestReport } from '../../home/index.js'
import { flag, ingest as operation, present, usageError } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { formatBytes } from '../screen/format-bytes.js'
import { grouped } from '../screen/money.js'
import { plural } from '../screen/plural.js'
import { safe } from '../screen/safe-text.js'
import { expectShortRun } from '../short-run.js'
import { outdatedNote } from '../views/outdated-note.js'
import { noteUnreadable } from '../views/unreadable-logs.js'

export const ingest = operationCommand(operation, {
  name: 'ingest',
  examples: [
    ['skein ingest', 'Everything that is new'],
    ['skein ingest --tool claude --since 7d --json', "A week of one tool's logs"],
  ],
  args: ['session'],
  own: { watch: flag('Keep reading as logs are written, until interrupted; with --json, one document per line') },
  async instead({ session, all, tool, since, force, watch, no_words }, { home, out, interrupted }) {
    if (!watch) return false
    const some = session ? '<session>' : tool ? '--tool' : since ? '--since' : undefined
    if (all && some) throw usageError(`--all and ${some} contradict each other`, 'Leave out one of them')
    if (force && !session) throw usageError('--force needs a session', 'Name the session to read again')
    if (no_words) throw usageError('--watch always stores text', 'Leave out --no-words')
    if (force) throw usageError('--force reads a session once', 'Leave out --watch')
    expectShortRun()
    const onReport = (report: IngestReport): void => out.item(report, () => reportLine(report))
    const { history } = await home()
    await history.watch({ ...present({ session, tool, since }), signal: interrupted(), onReport })
    return true
  },
  prepare(typed) {
    expectShortRun()
    return typed
  },
  async show(report, { home, out }, { session, tool, since }) {
    out.text(reportLine(report))
    const from = tool ? ` among those of ${tool}` : ''
    if (session && report.logs === 0) {
      const { id } = await (await home()).sessions.find(session)
      out.note(safe`No log of session ${id} was found${from}.`)
    }
    if (report.logs === 0 && !session && !since)
      out.note(
        safe`No logs${tool ? ` of ${tool}` : ''} were found. docs/LOGS.md lists where Skein looks and how to add places`,
      )
    if (report.outdated_logs > 0) out.note(outdatedNote(report.outdated_logs))
    noteUnreadable(report, out)
  },
})

function reportLine({ logs, read, bytes, turns, tool_calls, sessions_found }: IngestReport): string {
  const found = sessions_found > 0 ? `; ${plural(sessions_found, 'session')} found` : ''
  const news = `${plural(turns, 'turn')}, ${plural(tool_calls, 'tool call')}`
  return `Read ${grouped(read)} of ${plural(logs, 'log')} (${formatBytes(bytes)}): ${news}${found}`
}
