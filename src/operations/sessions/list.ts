import { operation } from '../operation.js'
import { CODE_FILTERS, codeFilterOf, FILTERS, filterOf } from './filters.js'
import { pageOf } from './page.js'

export const sessionsList = operation({
  name: 'sessions.list',
  does: 'reads',
  where: 'either',
  summary: 'List sessions, newest first',
  input: { ...FILTERS, ...CODE_FILTERS },
  result: 'page',
  async run({ commit, repository, touching, ...filters }, { home }) {
    const opened = await home()
    const code = await codeFilterOf({ commit, repository, touching }, opened)
    return pageOf(opened, { ...filterOf(filters), ...code }, filters)
  },
})
