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
    'Markdown with all that was said, in its order. It is what was kept, filtered for privacy, and not the log of the tool: no tool can go on from it. Nothing is overwritten.',
  examples: [
    ['skein archive restore 22222222', 'On standard output'],
    ['skein archive restore 22222222 --output session.md', 'Into a new file, readable by you alone'],
  ],
  args: { session: required(sessionRef, 'The beginning of its id, or an agent that is in it') },
  options: {
    output: optional(text('file'), 'Write to this new file', { short: 'o' }),
    version: optional(count, 'What its log said before it was rewritten; skein archive list --json has the numbers'),
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
