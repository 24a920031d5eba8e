import { command } from '../../command.js'
import { FILTER_OPTIONS, queryOf } from '../../input/session-filters.js'
import { answerWithPage, readPages } from '../../views/session-pages.js'

export const list = command({
  name: 'sessions list',
  summary: 'List sessions, newest first',
  examples: [
    ['skein sessions list', 'The newest sessions'],
    ['skein sessions list --rig web --since 7d --outcome crash', "A group's crashes of this week"],
    ['skein sessions list --work wk-42 --all --json', 'Everything done for one unit of work, as JSON'],
  ],
  args: {},
  options: FILTER_OPTIONS,
  async run(filters, cli) {
    const open = await cli.home()
    await answerWithPage(open, cli.out, await readPages(open, queryOf(filters, cli), filters))
  },
})
