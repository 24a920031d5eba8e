import { resolve } from 'node:path'
import {
  agentRef,
  choice,
  count,
  defaulted,
  groupRef,
  type Kind,
  optional,
  present,
  repeated,
  required,
  text,
  when,
} from '../../operations/index.js'
import { command } from '../command.js'
import { searchView } from '../views/search-view.js'

/** Nobody is told to ask for more than is answered. */
const MOST_HITS = 1_000
const moreThan = (limit: number): string => (limit < MOST_HITS ? `--limit ${Math.min(MOST_HITS, limit * 2)}, or ` : '')

const PART = choice('part', ['prompts', 'replies', 'tools'] as const)
type Part = ReturnType<typeof PART.parse>

/** A part of a session, or a directory: what looks like a path is one. */
const where: Kind<{ part?: Part; path?: string }> = {
  placeholder: '<part or directory>',
  completes: 'directory',
  parse: (given, nowMs) => (/^\.|\//.test(given) ? { path: given } : { part: PART.parse(given, nowMs) }),
}

export const search = command({
  name: 'search',
  summary: 'Find what was said in any session',
  description:
    'Searches prompts, replies, tool calls with their results, and titles of all ingested logs. All words must occur in one of them, in any order and case. "Quotes" keep words together, a trailing * matches a prefix, identifiers such as read_file or src/app.ts are found whole and by their parts. The newest day comes first; within a day, the best match. Exit code 0: found, 1: nothing found, 2: invalid search.',
  examples: [
    ['skein search readme', 'Where was it mentioned?'],
    ['skein search \'"count the files" rep*\' --since 2026-01-01', 'A phrase and a prefix'],
    ['skein search README.md --in tools --tool Read', 'In the arguments and results of a tool'],
  ],
  args: { text: required(text('words'), 'What to search for'), more: repeated(text('words'), 'More words') },
  options: {
    in: repeated(where, 'Only in prompts, replies or tools; with a path, only in sessions that worked there or below'),
    tool: optional(text('tool'), 'A program (claude) or a tool that was called (Bash)'),
    agent: optional(agentRef, 'Only sessions of this agent'),
    group: optional(groupRef, 'Only sessions of agents in this group and below it'),
    since: optional(when, 'Only what was said since then: 1h, 7d, today, yesterday, 2026-01-17 or a full time'),
    limit: defaulted(count, 20, 'At most this many hits', { short: 'n' }),
  },
  async run({ text: first, more, in: places, tool, agent, group, since, limit }, cli) {
    const { home, out } = cli
    const asked = [first, ...more].join(' ')
    const { part } = places.findLast((one) => one.part !== undefined) ?? {}
    const { path } = places.findLast((one) => one.path !== undefined) ?? {}
    const directory = path === undefined ? undefined : resolve(cli.cwd, path)
    const filters = present({ in: part, directory, tool, agent, group, since })
    const report = await (await home()).history.search({ text: asked, ...filters, limit })
    if (report.hits.length === 0) out.fails()
    out.result(report, (screen) => searchView(report.hits, screen))
    if (out.json) return
    if (!report.is_ingested) out.note('Nothing has been ingested yet. Read the logs with: skein ingest')
    else if (report.hits.length === 0) out.note('Nothing found.')
    if (report.older_versions > 0)
      out.note('Some logs were rewritten; their older versions are not searched. See OLDER in: skein archive list')
    if (report.may_be_outdated) out.note('Some text was stored under another policy. See: skein privacy check')
    if (report.hits.some((hit) => hit.log_gone)) {
      const all = report.hits.every((hit) => hit.log_gone)
      out.note(`${all ? 'Logs' : 'Some logs'} deleted by their tools; shown from the archive.`)
    }
    if (report.has_more) out.note(`There is more: ${moreThan(limit)}--since and --in to narrow it down.`)
    if (!report.is_complete) out.note('These words are so frequent that older text was not searched.')
  },
})
