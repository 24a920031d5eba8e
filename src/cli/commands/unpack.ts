import type { UnpackReceipt } from '../../lifecycle/index.js'
import { unpack as operation, present } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import type { Output } from '../screen/output.js'
import { safe } from '../screen/safe-text.js'
import { receiptView } from '../views/receipt-view.js'

export const unpack = operationCommand(operation, {
  name: 'unpack',
  examples: [['skein unpack session.skein --into . --name again', 'Continue it here, as an agent of its own']],
  args: ['file'],
  async instead({ passphrase_file, file, into, tool, name, max_gb }, cli) {
    const isAsked = cli.isAttended && !cli.out.json
    if (passphrase_file !== undefined || (cli.passphrase === undefined && !isAsked)) return false
    const askPassphrase = async (): Promise<string> =>
      cli.passphrase ?? (await import('../input/passphrase.js')).askPassphrase(cli, { twice: false })
    const request = { file, here: cli.cwd, askPassphrase, ...present({ into, tool, name, max_gb }) }
    const receipt = await (await cli.agents()).unpack(request)
    if (cli.out.json) cli.out.result(receipt, () => '')
    else showUnpacked(receipt, cli.out)
    return true
  },
  show: (receipt, { out }) => showUnpacked(receipt, out),
})

function showUnpacked(receipt: UnpackReceipt, out: Output): void {
  const { agent, cwd, branch, missing, left_out } = receipt
  out.text(
    [
      receiptView(receipt),
      safe`It works in ${cwd}${branch === undefined ? '' : ` on ${branch}`}. Resume it: skein restart ${agent.address}`,
    ].join('\n'),
  )
  for (const { path, reason } of missing.slice(0, 10)) out.note(safe`Not in the snapshot: ${path} (${reason})`)
  for (const { what, count } of left_out) out.text(safe`Not carried over: ${what} (${String(count)})`)
}
