import { snapshotsVerify } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { plural } from '../../screen/plural.js'
import { safeText } from '../../screen/safe-text.js'

export const verify = operationCommand(snapshotsVerify, {
  name: 'snapshots verify',
  examples: [['skein snapshots verify', 'Can all of them be restored?']],
  fails: ({ ok }) => !ok,
  show({ ok, stores }, { out }) {
    const problems = stores.flatMap(({ store, problems: found, broken }) => [
      ...broken.map(({ session, seq }) => `${store}: snapshot ${seq} of session ${session} cannot be restored`),
      ...found.map((problem) => `${store}: ${problem}`),
    ])
    const verdict = ok ? `The snapshots are intact: ${plural(stores.length, 'store')}` : 'Snapshots are damaged:'
    out.text([verdict, ...problems.map((problem) => `  ${safeText(problem)}`)].join('\n'))
  },
})
