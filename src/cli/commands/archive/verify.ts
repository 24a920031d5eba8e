import { command } from '../../command.js'
import { plural } from '../../screen/plural.js'
import { safeText } from '../../screen/safe-text.js'

export const verify = command({
  name: 'archive verify',
  summary: 'Check the whole archive for damage',
  description:
    'Unpacks everything, verifies checksums, and compares the archive with the counts and with the logs that still exist. Changes nothing. Exits with 1 if something is damaged.',
  examples: [['skein archive verify', 'Is all of it readable?']],
  args: {},
  options: {},
  async run(_, { home, out }) {
    const checked = await (await home()).archive.verify()
    if (!checked.ok) out.fails()
    out.result(checked, () => {
      const counts = `${plural(checked.logs, 'log')}, ${plural(checked.facts, 'fact')}, ${plural(checked.compared, 'log')} compared with the original`
      const verdict = checked.ok ? `The archive is intact: ${counts}` : `The archive is damaged (${counts}):`
      return [verdict, ...checked.problems.map((problem) => `  ${safeText(problem)}`)].join('\n')
    })
    if (out.json) return
    if (checked.behind > 0)
      out.note(`New content that is not archived yet in ${plural(checked.behind, 'log')}: skein ingest`)
    if (checked.not_archived > 0) {
      const what = plural(checked.not_archived, 'log')
      out.note(`Not in the archive: ${what}, read before the archive existed or removed from it.`)
    }
    if (!checked.ok) out.note('If the log of a damaged file still exists, move the file away and run skein ingest.')
  },
})
