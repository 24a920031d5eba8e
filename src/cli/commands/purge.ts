import { flag, purge as operation } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { expectShortRun } from '../short-run.js'
import { purgeView } from '../views/purge-view.js'

export const purge = operationCommand(operation, {
  name: 'purge',
<<<<<<< HEAD
  description: `${operation.description} A value that must not be on a command line: printf %s "$VALUE" | skein purge --secret-stdin --yes`,
=======
  summary: 'Erase a secret, a path or a session everywhere',
  description:
    'Erases a text, a path or a session from the journal, records, roster, archive, indexes, conversations and every other file of the home, in all profiles, and keeps it out of later ingests. Without --yes it only reports where it is. Afterwards it reads every byte of the home again and exits with 1 if something is left. It does not change the tools’ own logs, but lists those that contain it. For a value that must not be on a command line: printf %s "$VALUE" | skein purge --secret-stdin --yes',
>>>>>>> integration
  examples: [
    ["skein purge --pattern 'ACME-[0-9]{6}'", 'Where is it? Nothing is changed'],
    ['skein purge --path secrets/ --yes', 'A path, and the tool calls on it'],
    ['skein purge --session 22222222 --yes', 'A session'],
  ],
<<<<<<< HEAD
  fields: { secret: undefined },
  own: {
=======
  args: {},
  options: {
    pattern: optional(text('regex'), 'Erase what matches this regular expression; it is stored as typed'),
    path: optional(text('glob'), 'Erase paths that match this glob, and tool calls on them'),
    session: optional(sessionRef, 'Erase this session; its cost stays'),
>>>>>>> integration
    'secret-stdin': flag(
      'Erase the text on standard input, without its final newline; also in base64, hex and other encodings. Only a salted hash of it is stored',
    ),
<<<<<<< HEAD
=======
    resume: flag('Finish a purge that was interrupted'),
    accept: flag('Finish although something is left'),
    'dry-run': flag('Change nothing; the default without --yes'),
    yes: flag('Do it'),
>>>>>>> integration
  },
  order: ['pattern', 'path', 'session', 'secret-stdin', 'resume', 'accept', 'dry_run', 'yes'],
  prepare({ 'secret-stdin': fromStdin, ...typed }, { stdin }) {
    expectShortRun()
<<<<<<< HEAD
    return { ...typed, secret: fromStdin ? stdin().replace(/\r?\n$/, '') : undefined }
=======
    if (dryRun && yes) throw new SkeinError('usage', '--dry-run and --yes cannot be combined', 'Use only one of them')
    const secret = fromStdin ? stdin().replace(/\r?\n$/, '') : undefined
    const isDry = resume ? dryRun : !yes
    const options: PurgeOptions = { ...present({ pattern, path, session, secret }), resume, accept, dryRun: isDry }
    const report = await (await home()).privacy.purge(options)
    if (report.proof && report.proof.left.length + report.proof.unreadable.length > 0) out.fails()
    out.result(report, (screen) => purgeView(report, screen))
>>>>>>> integration
  },
  fails: ({ proof }) => proof !== undefined && proof.left.length + proof.unreadable.length > 0,
  view: purgeView,
})
