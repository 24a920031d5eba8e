import { sessionsList } from '../../../operations/index.js'
import { withRepositoryHere } from '../../input/repository-here.js'
import { operationCommand } from '../../operation-command.js'
import { showPage } from '../../views/session-pages.js'

export const list = operationCommand(sessionsList, {
  name: 'sessions list',
  examples: [
    ['skein sessions list', 'The newest sessions'],
    ['skein sessions list --rig web --since 7d --outcome crash', "A group's crashes of this week"],
    ['skein sessions list --work wk-42 --all --json', 'Everything done for one unit of work, as JSON'],
    ['skein sessions list --touching src/app.ts', 'Who has changed this file'],
  ],
  prepare: withRepositoryHere,
  show: showPage,
})
