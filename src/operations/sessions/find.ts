import { optional } from '../field.js'
import { text } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'
import { FILTERS, filterOf } from './filters.js'
import { pageOf } from './page.js'

export const sessionsFind = operation({
  name: 'sessions.find',
  does: 'reads',
  where: 'either',
  summary: 'Find sessions by id or title',
  description:
    'The text is the beginning of an id, or any part of a title. Filters narrow the search down, and also work alone.',
  input: { text: optional(text('text'), 'Beginning of an id, or part of a title'), ...FILTERS },
  result: 'page',
  run: async ({ text: wanted, ...filters }, { home }) =>
    pageOf(await home(), { ...filterOf(filters), ...present({ text: wanted }) }, filters),
})
