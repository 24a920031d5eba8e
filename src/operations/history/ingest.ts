import { flag, optional } from '../field.js'
import { sessionRef, text, when } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'
import { usageError } from '../usage-error.js'

export const ingest = operation({
  name: 'ingest',
  does: 'acts',
  where: 'either',
  isHeavy: true,
  summary: "Read new entries from the tools' logs",
  description:
    'Reads the logs of Claude Code, Codex, Gemini CLI, opencode, pi, Qwen and OpenClaw where these programs keep them. Unchanged logs are skipped; logs that have grown are read from where the last read stopped. Text is filtered before it is stored: see docs/PRIVACY.md.',
  input: {
    session: optional(sessionRef, 'Only the logs of this session'),
    all: flag('Everything; the default'),
    tool: optional(text('tool'), 'Only the logs of this tool'),
    since: optional(when, 'Only logs that changed since then: 1h, 7d, today, yesterday, 2026-01-17 or a full time'),
    no_words: flag('Read only turns, tool calls and cost, without the text for search, in half the time'),
    force: flag('With a session: also one that was purged'),
  },
  result: 'ingest-report',
  async run({ session, all, tool, since, force, no_words }, { home }) {
    const some = session ? '<session>' : tool ? '--tool' : since ? '--since' : undefined
    if (all && some) throw usageError(`--all and ${some} contradict each other`, 'Leave out one of them')
    if (force && !session) throw usageError('--force needs a session', 'Name the session to read again')
    const { history, sessions } = await home()
    const report = await history.ingest({ ...present({ session, tool, since }), force, words: !no_words })
    if (session && report.logs === 0) await sessions.find(session) // or nobody ever heard of it
    return report
  },
})
