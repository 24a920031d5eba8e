import { flag, optional, present, sessionRef } from '../../../operations/index.js'
import { command } from '../../command.js'
import { archiveTable } from '../../views/archive-view.js'

const NONE = "No such log is archived. Read the tools' logs with: skein ingest"

export const list = command({
  name: 'archive list',
  summary: 'List what is archived, newest first',
  examples: [
    ['skein archive list', 'Every log with its size, and whether its tool still has it'],
    ['skein archive list --gone', 'Logs that exist only in the archive'],
  ],
  args: { session: optional(sessionRef, 'Only this session, with its sub-agents') },
  options: { gone: flag('Only logs that their tools have deleted') },
  async run({ session, gone }, { home, out }) {
    const logs = await (await home()).archive.list(present({ session, gone: gone || undefined }))
    out.result({ logs }, (screen) => (logs.length > 0 ? archiveTable(logs, screen) : NONE))
  },
})
