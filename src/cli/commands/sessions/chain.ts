import { sessionsChain } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { chainView } from '../../views/chain-view.js'
import { shortIdsOf } from '../../views/session-table.js'

export const chain = operationCommand(sessionsChain, {
  name: 'sessions chain',
  examples: [
    ['skein sessions chain 0f3c9a12', 'The chain that a session belongs to'],
    ['skein sessions chain wk-42', 'Every chain that worked on a unit of work'],
  ],
  args: ['reference'],
  async show(found, { home, out }) {
    const sessions = found.chains.flatMap((one) => one.sessions)
    const short = await shortIdsOf(await home(), sessions)
    out.result(found, (screen) => chainView(found, short, screen))
  },
})
