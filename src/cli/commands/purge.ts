import type { PurgeOptions } from '../../home/index.js'
import { SkeinError } from '../../model/index.js'
import { flag, optional, present, sessionRef, text } from '../../operations/index.js'
import { command } from '../command.js'
import { expectShortRun } from '../short-run.js'
import { purgeView } from '../views/purge-view.js'

export const purge = command({
  name: 'purge',
  summary: 'Erase a secret, a path or a session everywhere',
  description:
    'Erases a text, a path or a session from the journal, records, roster, archive, indexes, conversations and every other file of the home, in all profiles, and keeps it out of later ingests. Without --yes it only reports where it is. Afterwards it reads every byte of the home again and exits with 1 if something is left. It does not change the tools’ own logs, but lists those that contain it. For a value that must not be on a command line: printf %s "$VALUE" | skein purge --secret-stdin --yes',
  examples: [
    ["skein purge --pattern 'ACME-[0-9]{6}'", 'Where is it? Nothing is changed'],
    ['skein purge --path secrets/ --yes', 'A path, and the tool calls on it'],
    ['skein purge --session 22222222 --yes', 'A session'],
  ],
  args: {},
  options: {
    pattern: optional(text('regex'), 'Erase what matches this regular expression; it is stored as typed'),
    path: optional(text('glob'), 'Erase paths that match this glob, and tool calls on them'),
    session: optional(sessionRef, 'Erase this session; its cost stays'),
    'secret-stdin': flag(
      'Erase the text on standard input, without its final newline; also in base64, hex and other encodings. Only a salted hash of it is stored',
    ),
    resume: flag('Finish a purge that was interrupted'),
    accept: flag('Finish although something is left'),
    'dry-run': flag('Change nothing; the default without --yes'),
    yes: flag('Do it'),
  },
  async run(
    { pattern, path, session, 'secret-stdin': fromStdin, resume, accept, 'dry-run': dryRun, yes },
    { home, out, stdin },
  ) {
    expectShortRun()
    if (dryRun && yes) throw new SkeinError('usage', '--dry-run and --yes cannot be combined', 'Use only one of them')
    const secret = fromStdin ? stdin().replace(/\r?\n$/, '') : undefined
    const isDry = resume ? dryRun : !yes
    const options: PurgeOptions = { ...present({ pattern, path, session, secret }), resume, accept, dryRun: isDry }
    const report = await (await home()).privacy.purge(options)
    if (report.proof && report.proof.left.length + report.proof.unreadable.length > 0) out.fails()
    out.result(report, (screen) => purgeView(report, screen))
  },
})
