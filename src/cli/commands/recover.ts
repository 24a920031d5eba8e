import { agentsRecover, type RecoveryLine, recoverAgents } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { contextOf } from '../perform.js'
import { recoveryLine } from '../views/recovery-view.js'

export const recover = operationCommand(agentsRecover, {
  name: 'recover',
  examples: [
    ['skein recover', 'After a reboot: every agent that was up'],
    ['skein recover --dry-run', 'Print what would be done'],
    ['skein recover web/demo', 'One agent'],
  ],
  args: ['agents'],
  // Starts are spaced out, so each line is printed when it is done.
  async instead(typed, cli) {
    if (cli.out.json) return false
    const signal = cli.interrupted()
    const tell = (line: RecoveryLine): void => cli.out.text(recoveryLine(line, { isPlan: typed.dry_run }))
    const { receipts } = await recoverAgents(typed, contextOf(cli), { tell, signal })
    if (receipts.length === 0) cli.out.text('No agent is down')
    if (signal.aborted) cli.out.note('Interrupted. Agents without a line above are still down: skein recover')
    if (signal.aborted || (isRefused(receipts) && !typed.dry_run)) cli.out.fails()
    return true
  },
  fails: ({ receipts, dry_run }) => isRefused(receipts) && !dry_run,
})

const isRefused = (receipts: readonly { outcome: string }[]): boolean =>
  receipts.some(({ outcome }) => outcome === 'refused')
