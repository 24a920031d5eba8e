import { command } from '../../command.js'
import { optional } from '../../input/input.js'
import { FILTER_OPTIONS, queryOf } from '../../input/session-filters.js'
import { text } from '../../input/value-kind.js'
import { usageError } from '../../usage-error.js'
import { answerWithPage, readPages } from '../../views/session-pages.js'
import { searchSessions } from './search-sessions.js'

export const find = command({
  name: 'sessions find',
  summary: 'Find sessions by id or title',
  description:
    'The text is the beginning of an id, or any part of a title. Filters narrow the search down, and also work alone.',
  examples: [
    ['skein sessions find login', 'Sessions with "login" in their title'],
    ['skein sessions find --agent web/toast --since 24h', 'What an agent did since yesterday'],
  ],
  args: { text: optional(text('text'), 'Beginning of an id, or part of a title') },
  options: FILTER_OPTIONS,
  async run({ text, ...filters }, { home, out }) {
    if (text !== undefined && filters.title !== undefined) {
      throw usageError('A text and --title are both given', 'The text is looked for in titles too: give one of them')
    }
    const opened = await home()
    const query = queryOf(filters)
    const page =
      text === undefined ? await readPages(opened, query, filters) : await searchSessions(opened, text, query, filters)
    answerWithPage(out, page)
  },
})
