import { toolList } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { programTable } from '../../views/program-view.js'

export const list = operationCommand(toolList, {
  name: 'tool list',
  examples: [['skein tool list', 'Every tool, whether it is installed, and what it can do']],
  view: ({ tools }, screen) => programTable(tools, screen),
})
