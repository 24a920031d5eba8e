import { resolve } from 'node:path'
import { restoredText } from '../../../interchange/index.js'
import { count, optional, present, required, sessionRef, text } from '../../../operations/index.js'
import { command } from '../../command.js'
import { writeNewFile } from '../../screen/new-file.js'
import { plural } from '../../screen/plural.js'
import { safe, safeText } from '../../screen/safe-text.js'

export const restore = command({
  name: 'archive restore',
  summary: 'Write an archived session as a document',
  description:
    "Markdown with everything that was said, in order. It contains what was kept, filtered for privacy. It is not the tool's log, and no tool can resume from it. Nothing is overwritten.",
  examples: [
    ['skein archive restore 22222222', 'On standard output'],
    ['skein archive restore 22222222 --output session.md', 'To a new file that only you can read'],
  ],
  args: { session: required(sessionRef, 'The beginning of its id, or its agent') },
  options: {
    output: optional(text('file'), 'Write to this new file', { short: 'o' }),
    version: optional(
      count,
      'An older version, from before its log was rewritten; skein archive list --json lists them',
    ),
  },
  async run({ session: reference, output, version }, { home, out, cwd }) {
    const restored = await (await home()).archive.restore(reference, present({ version }))
    const written = restoredText(restored)
    const path = output === undefined ? undefined : resolve(cwd, output)
    if (path !== undefined) writeNewFile(path, written)
    const { session, logs, problems } = restored
    const report = { session: session.id, logs: logs.length, problems }
    out.result({ ...report, ...(path === undefined ? { document: written } : { output: path }) }, () =>
      path === undefined ? written.trimEnd() : safe`Wrote ${path}: ${plural(logs.length, 'log')}`,
    )
    if (problems.length > 0) out.fails()
    if (!out.json) for (const problem of problems) out.note(`Not complete: ${safeText(problem)}`)
  },
})
