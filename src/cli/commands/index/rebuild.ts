import { formatDuration } from '../../../model/index.js'
import { command } from '../../command.js'
import { plural } from '../../screen/plural.js'

export const rebuild = command({
  name: 'index rebuild',
  summary: 'Rebuild the index from the journal and the logs',
  description:
    'The index comes from the journal; turns, tool calls and the text for search come from the logs, and from the archive where a tool has deleted its log. All of them are derived, so nothing is lost.',
  examples: [['skein index rebuild', 'Build a new index']],
  args: {},
  options: {},
  async run(_, { home, out }) {
    const built = await (await home()).index.rebuild()
    const found = `${plural(built.events, 'event')}, ${plural(built.sessions, 'session')}, ${plural(built.agents, 'agent')}`
    out.result(built, () => `Rebuilt the index in ${formatDuration(built.duration_ms)}: ${found}`)
  },
})
