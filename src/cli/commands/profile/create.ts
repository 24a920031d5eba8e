import { profileCreate } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

export const create = operationCommand(profileCreate, {
  name: 'profile create',
  examples: [['skein profile create work', 'Use it with: skein --profile work ...']],
  args: ['name'],
  view: (created) => safe`Created profile ${created.name} in ${created.directory}`,
})
