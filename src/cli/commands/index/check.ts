import { indexCheck } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { showIndexCheck } from '../../views/index-check-view.js'

export const check = operationCommand(indexCheck, {
  name: 'index check',
  examples: [['skein index check', 'Does the index equal a rebuild?']],
  fails: ({ ok }) => !ok,
  show: (checked, { out }) => showIndexCheck(checked, out),
})
