import { command } from '../../command.js'
import { optional } from '../../input/input.js'
import { present } from '../../input/present.js'
import { FILTER_OPTIONS, queryOf } from '../../input/session-filters.js'
import { text } from '../../input/value-kind.js'
import { answerWithPage, readPages } from '../../views/session-pages.js'

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
  async run({ text, ...filters }, cli) {
    const open = await cli.home()
    const query = { ...queryOf(filters, cli), ...present({ text }) }
    await answerWithPage(open, cli.out, await readPages(open, query, filters))
  },
})
