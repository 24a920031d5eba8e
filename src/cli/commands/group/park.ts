import { groupPark } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

export const park = operationCommand(groupPark, {
  name: 'group park',
  examples: [['skein group park web --reason "release freeze"', 'Nothing starts in web until it is unparked']],
  args: ['group'],
  view: ({ path }) => safe`${path} is parked: nothing starts in it`,
})
