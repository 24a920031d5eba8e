import { operation } from '../operation.js'
import { FILTERS, filterOf } from './filters.js'
import { pageOf } from './page.js'

export const sessionsList = operation({
  name: 'sessions.list',
  does: 'reads',
  where: 'either',
  summary: 'List sessions, newest first',
  input: FILTERS,
  result: 'page',
  run: async (filters, { home }) => pageOf(await home(), filterOf(filters), filters),
})
