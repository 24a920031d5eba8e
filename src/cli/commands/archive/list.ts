import { archiveList } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { archiveTable } from '../../views/archive-view.js'

const NONE = "No such log is archived. Read the tools' logs with: skein ingest"

export const list = operationCommand(archiveList, {
  name: 'archive list',
  examples: [
    ['skein archive list', 'Every log with its size, and whether its tool still has it'],
    ['skein archive list --gone', 'Logs that exist only in the archive'],
  ],
  args: ['session'],
  view: ({ logs }, screen) => (logs.length > 0 ? archiveTable(logs, screen) : NONE),
})
