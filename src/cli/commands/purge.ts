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
    'Removes a text, a path or a session from the journal, records, roster, archive, indexes, conversations and every other file of the home, in all profiles, and keeps it out of later ingests. Without --yes it only says where it is. Afterwards every byte of the home is read once more; the exit code is 1 when something is left. The tools’ own logs are not changed: it says which of them hold it. A value that must not be on a command line: printf %s "$VALUE" | skein purge --secret-stdin --yes',
  examples: [
    ["skein purge --pattern 'ACME-[0-9]{6}'", 'Where is it? Nothing is changed'],
    ['skein purge --path secrets/ --yes', 'A path, and all that tools did with it'],
    ['skein purge --session 22222222 --yes', 'A session'],
  ],
  args: {},
  options: {
    pattern: optional(text('regex'), 'What fits this regular expression. It is kept as typed'),
    path: optional(text('glob'), 'Paths that fit this glob, and calls of tools on them'),
    session: optional(sessionRef, 'This session; what it spent stays'),
    'secret-stdin': flag(
      'The text on standard input, without the end of its last line; also in base64, hex and other spellings. Only a salted hash of it is kept',
    ),
    resume: flag('Finish a purge that was interrupted'),
    accept: flag('Be done with it although something is left'),
    'dry-run': flag('Change nothing; the default without --yes'),
    yes: flag('Do it'),
  },
  async run(
    { pattern, path, session, 'secret-stdin': fromStdin, resume, accept, 'dry-run': dryRun, yes },
    { home, out, stdin },
  ) {
    expectShortRun()
    if (dryRun && yes) throw new SkeinError('usage', '--dry-run and --yes do not go together', 'Give one of the two')
    const secret = fromStdin ? stdin().replace(/\r?\n$/, '') : undefined
    const isDry = resume ? dryRun : !yes
    const options: PurgeOptions = { ...present({ pattern, path, session, secret }), resume, accept, dryRun: isDry }
    const report = await (await home()).privacy.purge(options)
    if (report.proof && report.proof.left.length + report.proof.unreadable.length > 0) out.fails()
    out.result(report, (screen) => purgeView(report, screen))
  },
})
