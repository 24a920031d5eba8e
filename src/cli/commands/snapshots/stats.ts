import { snapshotsStats } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { formatBytes } from '../../screen/format-bytes.js'
import { storesView } from '../../views/code-view.js'

export const stats = operationCommand(snapshotsStats, {
  name: 'snapshots stats',
  examples: [['skein snapshots stats', 'How much space do they take?']],
  show({ stores, bytes, max_bytes, is_on }, { out }) {
    out.text(storesView(stores, out.screen))
    out.text(
      `${formatBytes(bytes)} of ${formatBytes(max_bytes)} in use.${is_on ? '' : ' No snapshots are taken: turns.snapshots is false.'}`,
    )
  },
})
