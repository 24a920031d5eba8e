// Forks the session of a home and is killed before a step. argv: root, the program of the agent, step (or none), the rest of the request as JSON
import { fakeTool } from '../fake-tool.js'
import { killedBefore, openedAgain } from '../opened-again.js'

const [root = '', program = '', last = '', more = '{}'] = process.argv.slice(2)
const runner = fakeTool({ name: 'claude' })
const prepare: typeof runner.prepare = (launch) => runner.prepare({ ...launch, command: [process.execPath, program] })
const { agents } = await openedAgain(root, [{ ...runner, prepare }])
const request = { edge: 'after', code: true, chat: true, count: 1, ...JSON.parse(more) }
await agents.fork({ ...request, onStep: killedBefore(last) })
process.exit(0)
