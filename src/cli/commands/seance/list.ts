import { seanceList } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { showBeginnings } from '../../views/session-pages.js'

export const list = operationCommand(seanceList, {
  name: 'seance list',
  examples: [
    ['skein seance list', 'The newest sessions'],
    ['skein seance list --agent web/toast', 'The predecessors of an agent'],
    ['skein seance list --work wk-42 --json', 'Everyone who worked on a unit'],
  ],
  show: showBeginnings,
})
