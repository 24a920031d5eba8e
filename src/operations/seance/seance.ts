import type { FactsFrom } from '../../home/index.js'
import { readSeance } from '../../lifecycle/index.js'
import type { Session } from '../../model/index.js'
import { flag, optional, required } from '../field.js'
import { count, sessionRef } from '../kind.js'
import { operation } from '../operation.js'
import { FILTERS, filterOf } from '../sessions/filters.js'
import { pageOf, type ShownPage } from '../sessions/page.js'

const RECENT = 20
const SESSION = required(sessionRef, 'Id, beginning of an id, agent, or unit of work')

export const seanceList = operation({
  name: 'seance.list',
  does: 'reads',
  where: 'either',
  summary: 'List past sessions that can be asked',
  description: 'Newest first, of every agent, also of agents that were removed.',
  input: {
    agent: FILTERS.agent,
    role: FILTERS.role,
    rig: FILTERS.rig,
    work: FILTERS.work,
    chain: FILTERS.chain,
    recent: optional(count, 'At most this many', { short: 'n', fallback: String(RECENT) }),
  },
  result: 'page',
  async run({ recent = RECENT, ...given }, { home }): Promise<ShownPage> {
    const unset = {
      tool: undefined,
      since: undefined,
      until: undefined,
      outcome: undefined,
      title: undefined,
      in: undefined,
    }
    const filters = { ...unset, ...given, limit: recent, cursor: undefined, all: false }
    return pageOf(await home(), filterOf(filters), { all: false })
  },
})

export interface SeanceReading {
  session: Session
  from: FactsFrom
  is_part: boolean
  text: string
}

export const seanceRead = operation({
  name: 'seance.read',
  does: 'reads',
  where: 'either',
  isHeavy: true,
  summary: 'Print what a past session did and where it stopped',
  description: 'Made from its log, or from the archive if the log is gone. No model is asked.',
  input: { session: SESSION, newest: flag('The newest session of its chain instead') },
  result: 'seance-reading',
  async run({ session, newest }, { home }): Promise<SeanceReading> {
    return readSeance(await home(), session, { isNewest: newest })
  },
})
