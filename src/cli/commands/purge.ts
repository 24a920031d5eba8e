import { flag, purge as operation } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { expectShortRun } from '../short-run.js'
import { purgeView } from '../views/purge-view.js'

export const purge = operationCommand(operation, {
  name: 'purge',
  description: `${operation.description} For a value that must not be on a command line: printf %s "$VALUE" | skein purge --secret-stdin --yes`,
  examples: [
    ["skein purge --pattern 'ACME-[0-9]{6}'", 'Where is it? Nothing is changed'],
    ['skein purge --path secrets/ --yes', 'A path, and the tool calls on it'],
    ['skein purge --session 22222222 --yes', 'A session'],
  ],
  fields: { secret: undefined },
  own: {
    'secret-stdin': flag(
      'Erase the text on standard input, without its final newline; also in base64, hex and other encodings. Only a salted hash of it is stored',
    ),
  },
  order: ['pattern', 'path', 'session', 'secret-stdin', 'resume', 'accept', 'dry_run', 'yes'],
  prepare({ 'secret-stdin': fromStdin, ...typed }, { stdin }) {
    expectShortRun()
    return { ...typed, secret: fromStdin ? stdin().replace(/\r?\n$/, '') : undefined }
  },
  fails: ({ proof }) => proof !== undefined && proof.left.length + proof.unreadable.length > 0,
  view: purgeView,
})
