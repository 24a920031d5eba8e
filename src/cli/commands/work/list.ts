import { workList } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { workTable } from '../../views/work-view.js'

export const list = operationCommand(workList, {
  name: 'work list',
  examples: [
    ['skein work list', 'Everything that is not done'],
    ['skein work list --agent web/toast --all', 'What an agent has, and has done'],
    ['skein work list --status blocked', 'What cannot go on'],
  ],
  show({ work }, { out }) {
    if (work.length === 0 && !out.json) return out.note('No work. Add some: skein work add <title>')
    out.result({ work }, (screen) => workTable(work, screen))
  },
})
