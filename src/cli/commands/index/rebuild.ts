import { formatDuration } from '../../../model/index.js'
import { indexRebuild } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { plural } from '../../screen/plural.js'

export const rebuild = operationCommand(indexRebuild, {
  name: 'index rebuild',
<<<<<<< HEAD
  examples: [['skein index rebuild', 'Make a fresh index']],
  view(built) {
=======
  summary: 'Rebuild the index from the journal and the logs',
  description:
    'The index comes from the journal; turns, tool calls and the text for search come from the logs, and from the archive where a tool has deleted its log. All of them are derived, so nothing is lost.',
  examples: [['skein index rebuild', 'Build a new index']],
  args: {},
  options: {},
  async run(_, { home, out }) {
    const built = await (await home()).index.rebuild()
>>>>>>> integration
    const found = `${plural(built.events, 'event')}, ${plural(built.sessions, 'session')}, ${plural(built.agents, 'agent')}`
    return `Rebuilt the index in ${formatDuration(built.duration_ms)}: ${found}`
  },
})
