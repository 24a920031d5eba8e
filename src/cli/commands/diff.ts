import { diff as operation } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { safeText } from '../screen/safe-text.js'
import { patchView } from '../views/code-view.js'

export const diff = operationCommand(operation, {
  name: 'diff',
  examples: [
    ['skein diff 22222222 2', 'What did this turn change?'],
    ['skein diff 22222222 2 --json', 'With the files, and the moments that are compared'],
  ],
  args: ['session', 'turn', 'to'],
  show({ from, to, changes, patch }, { out }, { to: asked }) {
    const late = asked === undefined && from.edge === 'before' ? from.late : []
    if (changes.length > 0) out.text(patchView(patch, out.screen))
    else if (late.length === 0) out.note('No files differ.')
    if (late.length > 0)
      out.note(`Changed after the prompt and before its snapshot was taken, so not shown: ${safeText(late.join(', '))}`)
    if (asked === undefined && from.edge === 'after')
      out.note(
        `Compared with the end of turn ${from.turn}: the snapshot of the prompt was taken after files had changed.`,
      )
    if (out.isTerminal && !(from.is_exact && to.is_exact))
      out.note(
        'A snapshot is incomplete, or was taken after files had changed: some of this may belong to another turn.',
      )
  },
})
