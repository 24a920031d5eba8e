// Packs a session over the file that is there. argv: root, session, file
import { fakeTool } from '../fake-tool.js'
import { openedAgain } from '../opened-again.js'

const [root = '', id = '', output = ''] = process.argv.slice(2)
const { home, agents } = await openedAgain(root, [fakeTool({ name: 'claude' })])
const sessions = [await home.sessions.find(id)]
await agents.pack({ sessions, output, force: true, code: true, verbatim: false })
