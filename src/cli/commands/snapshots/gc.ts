import { snapshotsGc } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { plural } from '../../screen/plural.js'

export const gc = operationCommand(snapshotsGc, {
  name: 'snapshots gc',
  examples: [
    ['skein snapshots gc', 'What would go?'],
    ['skein snapshots gc --yes', 'Remove and pack'],
  ],
  show({ expired, is_done, packed }, { out }) {
    const what = plural(expired, 'snapshot')
    if (is_done) out.text(`Removed ${what}, packed ${plural(packed.length, 'store')}.`)
    else out.text(`${what} would be removed. Add --yes to remove them and to pack the rest.`)
  },
})
