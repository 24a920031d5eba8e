import { diff as operation } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { patchView } from '../views/code-view.js'

export const diff = operationCommand(operation, {
  name: 'diff',
  examples: [
    ['skein diff 22222222 2', 'What did this turn change?'],
    ['skein diff 22222222 2 --json', 'With the files, and the moments that are compared'],
  ],
  args: ['session', 'turn', 'to'],
  show({ from, to, changes, patch }, { out }) {
    if (changes.length === 0) out.note('No files differ.')
    else out.text(patchView(patch, out.screen))
    if (out.isTerminal && !(from.is_exact && to.is_exact))
      out.note(
        'A snapshot is incomplete, or was taken after files had changed: some of this may belong to another turn.',
      )
  },
})
