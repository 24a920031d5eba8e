import { formatDuration } from '../../../model/index.js'
import { indexRebuild } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { plural } from '../../screen/plural.js'

export const rebuild = operationCommand(indexRebuild, {
  name: 'index rebuild',
  examples: [['skein index rebuild', 'Build a new index']],
  view(built) {
    const found = `${plural(built.events, 'event')}, ${plural(built.sessions, 'session')}, ${plural(built.agents, 'agent')}`
    return `Rebuilt the index in ${formatDuration(built.duration_ms)}: ${found}`
  },
})
