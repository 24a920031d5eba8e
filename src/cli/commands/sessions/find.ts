import { sessionsFind } from '../../../operations/index.js'
import { withRepositoryHere } from '../../input/repository-here.js'
import { operationCommand } from '../../operation-command.js'
import { showPage } from '../../views/session-pages.js'

export const find = operationCommand(sessionsFind, {
  name: 'sessions find',
  examples: [
    ['skein sessions find login', 'Sessions with "login" in their title'],
    ['skein sessions find --agent web/toast --since 24h', 'What an agent did since yesterday'],
  ],
  args: ['text'],
  prepare: withRepositoryHere,
  show: showPage,
})
