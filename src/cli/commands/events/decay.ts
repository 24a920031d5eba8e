import { eventsDecay } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { type Column, table } from '../../screen/table.js'

type Decay = Awaited<ReturnType<typeof eventsDecay.run>>['types'][number]

export const decay = operationCommand(eventsDecay, {
  name: 'events decay',
  examples: [['skein events decay', 'Per type']],
  show({ types }, { out }) {
    if (types.length === 0) return out.note('There are no events yet')
    out.result({ types }, (screen) => table(types, COLUMNS, screen))
  },
})

const COLUMNS: Column<Decay>[] = [
  { header: 'TYPE', text: (one) => one.type, shrinkTo: 10 },
  { header: 'TTL', text: (one) => one.ttl, align: 'right' },
  { header: 'CURVE', text: (one) => one.curve },
  { header: 'EVENTS', text: (one) => String(one.events), align: 'right' },
  { header: 'WORTH', text: (one) => percent(one.average_worth), align: 'right' },
  { header: 'LOWEST', text: (one) => percent(one.lowest_worth), align: 'right' },
  { header: 'AT RISK', text: (one) => String(one.at_risk), align: 'right' },
  { header: 'EXPIRED', text: (one) => String(one.expired), align: 'right' },
]

const percent = (share: number): string => `${Math.round(share * 100)}%`
