import { archiveStats } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { archiveCard } from '../../views/archive-view.js'

export const stats = operationCommand(archiveStats, {
  name: 'archive stats',
  examples: [['skein archive stats', 'How much is there?']],
  view: archiveCard,
})
