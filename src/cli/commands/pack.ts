import { redactionsLine } from '../../interchange/index.js'
import { packed, packSessions, readInput } from '../../operations/index.js'
import { askPassphrase } from '../input/passphrase.js'
import { operationCommand } from '../operation-command.js'
import { contextOf } from '../perform.js'
import { plural } from '../screen/plural.js'
import { safe, safeText } from '../screen/safe-text.js'

export const pack = operationCommand(packSessions, {
  name: 'pack',
  description: `${packSessions.description} Without --passphrase-file, --verbatim asks for the passphrase in the terminal.`,
  examples: [['skein pack 22222222 --chat-only -o session.skein', 'The conversation, filtered']],
  args: ['reference'],
  async instead({ verbatim, passphrase_file, ...typed }, cli) {
    if (passphrase_file !== undefined || (cli.passphrase === undefined && !(verbatim && cli.isAttended))) return false
    const input = readInput(packSessions, { ...typed, verbatim }, cli)
    const passphrase = cli.passphrase ?? (await askPassphrase(cli, { twice: true }))
    const report = await packed(input, contextOf(cli), passphrase)
    cli.out.result(report, () => safe`Wrote ${report.file}, sealed`)
    return true
  },
  show({ file, sessions, snapshots, is_sealed, redactions, left_out }, { out }) {
    const turns = sessions.reduce((sum, one) => sum + one.turns, 0)
    const code = snapshots === 0 ? 'no code' : plural(snapshots, 'snapshot')
    out.text(
      safe`Wrote ${file}${is_sealed ? ', sealed' : ''}: ${plural(sessions.length, 'session')}, ${plural(turns, 'turn')}, ${code}`,
    )
    const filtered = redactionsLine(redactions)
    if (filtered !== '') out.note(`Left out for privacy: ${safeText(filtered)}`)
    for (const { what, count } of left_out) out.text(safe`Not carried: ${what} (${String(count)})`)
  },
})
