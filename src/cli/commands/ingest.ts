import type { IngestReport } from '../../home/index.js'
import { flag, optional, present, sessionRef, text, usageError, when } from '../../operations/index.js'
import { command } from '../command.js'
import { formatBytes } from '../screen/format-bytes.js'
import { grouped } from '../screen/money.js'
import { plural } from '../screen/plural.js'
import { safe } from '../screen/safe-text.js'
import { expectShortRun } from '../short-run.js'
import { outdatedNote } from '../views/outdated-note.js'
import { noteUnreadable } from '../views/unreadable-logs.js'

export const ingest = command({
  name: 'ingest',
  summary: "Read new entries from the tools' logs",
  description:
    'Reads the logs of Claude Code, Codex, Gemini CLI, opencode, pi, Qwen and OpenClaw where these programs keep them. Unchanged logs are skipped; logs that have grown are read from where the last read stopped. Text is filtered before it is stored: see docs/PRIVACY.md.',
  examples: [
    ['skein ingest', 'Everything that is new'],
    ['skein ingest --tool claude --since 7d --json', "A week of one tool's logs"],
  ],
  args: { session: optional(sessionRef, 'Only the logs of this session') },
  options: {
    all: flag('Everything; the default'),
    tool: optional(text('tool'), 'Only the logs of this tool'),
    since: optional(when, 'Only logs that changed since then: 1h, 7d, today, yesterday, 2026-01-17 or a full time'),
    'no-words': flag('Read only turns, tool calls and cost, without the text for search, in half the time'),
    force: flag('With a session: also one that was purged'),
    watch: flag('Keep reading as logs are written, until interrupted; with --json, one document per line'),
  },
  async run({ session, all, tool, since, force, watch, 'no-words': noWords }, { home, out, interrupted }) {
    const some = session ? '<session>' : tool ? '--tool' : since ? '--since' : undefined
    if (all && some) throw usageError(`--all and ${some} contradict each other`, 'Leave out one of them')
    if (force && !session) throw usageError('--force needs a session', 'Name the session to read again')
    if (watch && noWords) throw usageError('--watch always stores text', 'Leave out --no-words')
    if (watch && force) throw usageError('--force reads a session once', 'Leave out --watch')
    expectShortRun()
    const { history, sessions } = await home()
    if (watch) {
      const onReport = (report: IngestReport): void => out.item(report, () => reportLine(report))
      await history.watch({ ...present({ session, tool, since }), signal: interrupted(), onReport })
      return
    }
    const report = await history.ingest({ ...present({ session, tool, since }), force, words: !noWords })
    const missing = session && report.logs === 0 ? await sessions.find(session) : undefined // or nobody ever heard of it
    out.result(report, () => reportLine(report))
    if (missing && !out.json)
      out.note(safe`No log of session ${missing.id} was found${tool ? ` among those of ${tool}` : ''}.`)
    if (report.logs === 0 && !session && !since && !out.json)
      out.note(
        safe`No logs${tool ? ` of ${tool}` : ''} were found. docs/LOGS.md lists where Skein looks and how to add places`,
      )
    if (report.outdated_logs > 0 && !out.json) out.note(outdatedNote(report.outdated_logs))
    noteUnreadable(report, out)
  },
})

function reportLine({ logs, read, bytes, turns, tool_calls, sessions_found }: IngestReport): string {
  const found = sessions_found > 0 ? `; ${plural(sessions_found, 'session')} found` : ''
  const news = `${plural(turns, 'turn')}, ${plural(tool_calls, 'tool call')}`
  return `Read ${grouped(read)} of ${plural(logs, 'log')} (${formatBytes(bytes)}): ${news}${found}`
}
