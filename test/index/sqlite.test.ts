import { SqliteIndex } from '../../src/index/index.js'
import { describeSessionIndex } from '../contracts/session-index.js'

describeSessionIndex('sqlite', async () => {
  const index = SqliteIndex.build(':memory:', () => {})
  return { index, close: () => index[Symbol.dispose]() }
})
