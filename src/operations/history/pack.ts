import type { PackReport } from '../../lifecycle/index.js'
import type { OperationContext } from '../context.js'
import { flag, optional, required, type Values } from '../field.js'
import { count, path } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'
import { REFERENCE } from '../sessions/chain.js'
import { sessionsNamed } from './sessions-named.js'

const PASSPHRASE_FILE = optional(path('file'), 'A file with the passphrase, on one line')

export const packSessions = operation({
  name: 'pack',
  does: 'acts',
  where: 'either',
  isHeavy: true,
  summary: 'Pack a session with its code into one file',
  description:
    "Writes the conversation, the code at both ends of every turn, lineage and cost as one file that skein unpack opens on another machine, under another account or in another directory. The privacy policy is applied to the words and secrets are redacted; files of the code are carried as they are, without those that snapshots leave out, such as .env. --verbatim carries the words and the program's own log unfiltered, and only sealed with a passphrase. The sessions stay as they are.",
  input: {
    reference: REFERENCE,
    output: required(path('file'), 'The file to write, which only you can read', { short: 'o' }),
    turn: optional(count, 'The last turn to carry (default: the last one)'),
    chain: flag('The whole chain that a session belongs to'),
    chat_only: flag('The conversation alone, without code'),
    verbatim: flag('Unfiltered, secrets included; needs a passphrase'),
    passphrase_file: PASSPHRASE_FILE,
    force: flag('Replace the file if it exists'),
  },
  result: 'pack-report',
  run: (input, context): Promise<PackReport> => packed(input, context),
})

/** The same with a passphrase that was typed. */
export async function packed(
  { reference, chain, chat_only, verbatim, force, ...given }: Values<typeof packSessions.input>,
  { home, agents }: Pick<OperationContext, 'home' | 'agents'>,
  passphrase?: string,
): Promise<PackReport> {
  const sessions = await sessionsNamed(await home(), reference, chain)
  const request = { sessions, code: !chat_only, verbatim, force, output: given.output }
  return (await agents()).pack({ ...present(given), ...request, ...(passphrase === undefined ? {} : { passphrase }) })
}
