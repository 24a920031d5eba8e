import { optional } from '../field.js'
import { text } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'
import { CODE_FILTERS, codeFilterOf, FILTERS, filterOf } from './filters.js'
import { pageOf } from './page.js'

export const sessionsFind = operation({
  name: 'sessions.find',
  does: 'reads',
  where: 'either',
  summary: 'Find sessions by id or title',
  description:
    'The text is the beginning of an id, or any part of a title. Filters narrow the search down, and also work alone.',
  input: { text: optional(text('text'), 'Beginning of an id, or part of a title'), ...FILTERS, ...CODE_FILTERS },
  result: 'page',
  async run({ text: wanted, commit, repository, touching, ...filters }, { home }) {
    const opened = await home()
    const code = await codeFilterOf({ commit, repository, touching }, opened)
    return pageOf(opened, { ...filterOf(filters), ...present({ text: wanted }), ...code }, filters)
  },
})
