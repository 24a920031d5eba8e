import { command } from '../../command.js'
import { table } from '../../screen/table.js'

export const decay = command({
  name: 'events decay',
  summary: 'Show what kept events are still worth',
  description:
    'An event is worth 100% when it happens and 0% when its time to live is over; how it falls depends on its type.',
  examples: [['skein events decay', 'Per type']],
  args: {},
  options: {},
  async run(_, { home, out }) {
    const types = await (await home()).events.decay()
    out.result({ types }, (screen) =>
      types.length === 0
        ? ''
        : table(
            types,
            [
              { header: 'TYPE', text: (one) => one.type, shrinkTo: 10 },
              { header: 'TTL', text: (one) => one.ttl, align: 'right' },
              { header: 'CURVE', text: (one) => one.curve },
              { header: 'EVENTS', text: (one) => String(one.events), align: 'right' },
              { header: 'WORTH', text: (one) => percent(one.average_worth), align: 'right' },
              { header: 'LOWEST', text: (one) => percent(one.lowest_worth), align: 'right' },
              { header: 'AT RISK', text: (one) => String(one.at_risk), align: 'right' },
              { header: 'EXPIRED', text: (one) => String(one.expired), align: 'right' },
            ],
            screen,
          ),
    )
    if (types.length === 0 && !out.json) out.note('There are no events yet')
  },
})

const percent = (share: number): string => `${Math.round(share * 100)}%`
