import { accessTo, stopDaemon } from '../../daemon/index.js'
import { agentsDown, flag } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { receiptView } from '../views/receipt-view.js'
import { showEach } from '../views/receipts-view.js'

export const down = operationCommand(agentsDown, {
  name: 'down',
  examples: [
    ['skein down', 'Before a reboot'],
    ['skein down --all --graceful 30s', 'The daemon as well, with more time to exit'],
  ],
  own: { all: flag('Stop the daemon as well, when the agents have ended') },
  fails: ({ failures }) => failures !== undefined,
  async show({ receipts, failures }, cli, { all }) {
    showEach({ done: receipts, failures }, receiptView, cli, 'No agent runs')
    if (all) await endDaemon(cli)
  },
  async json(result, cli, { all }) {
    if (all) await endDaemon(cli)
    cli.out.result(result, () => '')
  },
})

/** Last: a tmux server that it is connected to ends with it. */
async function endDaemon({ daemon, profile }: Parameters<NonNullable<typeof down.start>>[1]): Promise<void> {
  await stopDaemon(accessTo(daemon, profile))
}
