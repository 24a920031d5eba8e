import { sessionsFind } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { showPage } from '../../views/session-pages.js'

export const find = operationCommand(sessionsFind, {
  name: 'sessions find',
  examples: [
    ['skein sessions find login', 'Sessions with "login" in their title'],
    ['skein sessions find --agent web/toast --since 24h', 'What an agent did since yesterday'],
  ],
  args: ['text'],
  prepare: (typed, { cwd }) => (typed.commit === undefined ? typed : { ...typed, repository: typed.repository ?? cwd }),
  show: showPage,
})
