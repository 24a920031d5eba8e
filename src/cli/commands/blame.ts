import { blame as operation } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { blameView } from '../views/blame-view.js'

export const blame = operationCommand(operation, {
  name: 'blame',
  examples: [
    ['skein blame src/app.ts', 'Who wrote each line'],
    ['skein blame src/app.ts:12', 'Who wrote line 12'],
  ],
  args: ['file'],
  view: blameView,
})
