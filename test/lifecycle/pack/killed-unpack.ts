// Unpacks a file and is killed before a step. argv: root, file, the directory to make, step
import { fakeTool } from '../fake-tool.js'
import { killedBefore, openedAgain } from '../opened-again.js'

const [root = '', file = '', into = '', last = ''] = process.argv.slice(2)
const { agents } = await openedAgain(root, [fakeTool({ name: 'claude' })])
await agents.unpack({ file, into, onStep: killedBefore(last) })
process.exit(0)
