import { explain as operation } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { explainView } from '../views/explain-view.js'

export const explain = operationCommand(operation, {
  name: 'explain',
  examples: [
    ['skein explain HEAD', 'Who wrote the last commit'],
    ['skein explain 4f2a91c --repository ../shop', 'A commit of another repository'],
  ],
  args: ['commit'],
  prepare: (typed, { cwd }) => ({ ...typed, repository: typed.repository ?? cwd }),
  view: explainView,
})
