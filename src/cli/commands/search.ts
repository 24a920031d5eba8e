import { type Kind, search as operation, PART, path, repeated, text } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { searchView } from '../views/search-view.js'

/** The hint never names a limit above the maximum. */
const MOST_HITS = 1_000
const moreThan = (limit: number): string => (limit < MOST_HITS ? `--limit ${Math.min(MOST_HITS, limit * 2)}, or ` : '')

type Place = { readonly part: ReturnType<typeof PART.parse> } | { readonly directory: string }

/** A part of a session, or a directory: what looks like a path is one. */
const place: Kind<Place> = {
  placeholder: '<part or directory>',
  completes: 'directory',
  parse: (given, scope) =>
    /^\.|\//.test(given) ? { directory: path('directory').parse(given, scope) } : { part: PART.parse(given, scope) },
}

export const search = operationCommand(operation, {
  name: 'search',
  description: `${operation.description} Exit code 0: found, 1: nothing found, 2: invalid search.`,
  examples: [
    ['skein search readme', 'Where was it mentioned?'],
    ['skein search \'"count the files" rep*\' --since 2026-01-01', 'A phrase and a prefix'],
    ['skein search README.md --in tools --tool Read', 'In the arguments and results of a tool'],
  ],
  args: ['text', 'more'],
  fields: { in: undefined, directory: undefined },
  own: {
    more: repeated(text('words'), 'More words'),
    in: repeated(place, 'Only in prompts, replies or tools; with a path, only in sessions that worked there or below'),
  },
  order: ['in', 'tool', 'agent', 'group', 'since', 'limit'],
  prepare({ text: first, more, in: places, ...filters }) {
    const { part } = places.findLast((one) => 'part' in one) ?? {}
    const { directory } = places.findLast((one) => 'directory' in one) ?? {}
    return { ...filters, text: [first, ...more].join(' '), in: part, directory }
  },
  fails: ({ hits }) => hits.length === 0,
  show(report, { out }, { limit }) {
    out.result(report, (screen) => searchView(report.hits, screen))
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
