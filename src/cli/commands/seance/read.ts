import { seanceRead } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { safeText } from '../../screen/safe-text.js'

export const read = operationCommand(seanceRead, {
  name: 'seance read',
  examples: [['skein seance read 22222222', 'What it did, without asking a model']],
  args: ['session'],
  show({ from, is_part, text }, { out }) {
    if (from === 'archive') out.note('From the archive: the log is gone')
    if (from === 'journal') out.note('Its program writes no log: these are its prompts, without replies.')
    if (is_part) out.note('Some of it is missing')
    out.text(text.split('\n').map(safeText).join('\n'))
  },
})
