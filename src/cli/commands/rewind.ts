import { rewind as operation } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { plural } from '../screen/plural.js'
import { safe, safeText } from '../screen/safe-text.js'
import { changesView } from '../views/code-view.js'

export const rewind = operationCommand(operation, {
  name: 'rewind',
  examples: [
    ['skein rewind 22222222 --turn 2 --before', 'What would change?'],
    ['skein rewind 22222222 --turn 2 --yes', 'Put the files back'],
    ['skein rewind 22222222 --redo --yes', 'Take that back'],
  ],
  args: ['session'],
  show({ session, turn, root, changes, index, nested, left_alone, is_done, is_exact }, { out }) {
    if (changes.length > 0) out.text(changesView(changes, out.screen))
    const files = plural(changes.length, 'file')
    if (changes.length === 0) out.text(safe`The files in ${root} are already as they were then.`)
    else if (is_done)
      out.text(`${files} in ${safeText(root)} changed. Take it back: skein rewind ${session.slice(0, 8)} --redo --yes`)
    else out.text(`${files} in ${safeText(root)} would change. Add --yes to do it.`)
    if (is_done && turn !== undefined && changes.length > 0)
      out.text('The conversation stays as it is: an agent in it does not know of this until you tell it.')
    if (index === 'kept' && changes.length > 0) out.text('HEAD has moved since: what is staged stays as it is.')
    if (nested.length > 0) out.text(`Repositories inside are left alone: ${nested.map(safeText).join(', ')}`)
    if (left_alone.length > 0)
      out.text(`Not in the snapshot, so left as they are: ${left_alone.map(safeText).join(', ')}`)
    if (!is_exact) out.text('The snapshot is incomplete, or was taken after files had changed.')
  },
})
