import { command } from '../../command.js'
import { plural } from '../../screen/plural.js'
import { safeText } from '../../screen/safe-text.js'

export const verify = command({
  name: 'archive verify',
  summary: 'Check the whole archive for damage',
  description:
    'Unpacks everything, checks its checksums, and compares it with what was counted and with the logs that are still there. Changes nothing. Ends with exit code 1 when something is damaged.',
  examples: [['skein archive verify', 'Is all of it readable?']],
  args: {},
  options: {},
  async run(_, { home, out }) {
    const checked = await (await home()).archive.verify()
    if (!checked.ok) out.fails()
    out.result(checked, () => {
      const counts = `${plural(checked.logs, 'log')}, ${plural(checked.facts, 'fact')}, ${plural(checked.compared, 'log')} compared with the original`
      const verdict = checked.ok ? `The archive is whole: ${counts}` : `The archive is damaged (${counts}):`
      return [verdict, ...checked.problems.map((problem) => `  ${safeText(problem)}`)].join('\n')
    })
    if (out.json) return
    if (checked.behind > 0) out.note(`More to be archived of ${plural(checked.behind, 'log')}: skein ingest`)
    if (checked.not_archived > 0) {
      const what = plural(checked.not_archived, 'log')
      out.note(`Not in the archive: ${what} known from before, read before there was one or removed from it.`)
    }
    if (!checked.ok) out.note('A damaged file whose log is still there: move it away, then run skein ingest.')
  },
})
