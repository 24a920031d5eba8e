import { join } from 'node:path'
import { parseAgentName } from '../../src/conversations/agent-name.js'
import { FileRows } from '../../src/conversations/rows/file-rows.js'
import { SqliteRows } from '../../src/conversations/rows/sqlite-rows.js'
import { describeRows } from './contract.js'
import { scratch } from './scratch.js'

describeRows('sqlite', () => {
  const path = join(scratch(), 'conversations.db')
  return () => new SqliteRows(path)
})

describeRows('files', () => {
  const path = join(scratch(), 'sessions.json')
  return () => new FileRows(path, parseAgentName('main'))
})
