import { mailRead } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { mailCard } from '../../views/work-view.js'

export const read = operationCommand(mailRead, {
  name: 'mail read',
  examples: [
    ['skein mail read m-7', 'Read it'],
    ['skein mail read m-7 --peek', 'Look at it, and leave it unread'],
  ],
  args: ['mail'],
  prepare: (typed, { currentSession }) => ({ ...typed, session: typed.session ?? currentSession }),
  view: (mail, screen) => mailCard(mail, screen),
})
