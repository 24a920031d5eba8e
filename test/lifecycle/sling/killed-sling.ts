import { join } from 'node:path'
import { openHome } from '../../../src/home/index.js'
import { configuredParts } from '../../../src/lifecycle/index.js'
import { sling } from '../../../src/lifecycle/sling/sling.js'
import { contextOf } from '../context.js'
import { fakeTool } from '../fake-tool.js'

/**
 * Slings a unit as a process of its own, which is killed when it gets to a step. argv: the workshop's root, the step, the program, the unit,
 * the repository.
 */
const [root = '', step, program = '', work = '', repo = ''] = process.argv.slice(2)
const env = { PATH: process.env.PATH ?? '', HOME: root, FAKE_LOG: join(root, 'fake.log') }
const context = contextOf([])
const configFile = join(root, 'config.toml')
const home = await openHome({ root, configFile, surroundings: { home: root, env, zone: 'UTC' }, context })
const facts = { ownRoot: root, temporary: root, userId: undefined }
const configured = await configuredParts({ home, context, configFile, facts })
const runner = fakeTool()
const prepare: typeof runner.prepare = (launch) => runner.prepare({ ...launch, command: [process.execPath, program] })
const socket = { path: join(root, 'tmux.sock') }
const parts = { ...configured, socket, runners: [{ ...runner, prepare }], defaultTool: 'fake' }
const unmake = async (): Promise<void> => {}
try {
  const { agent } = await sling(parts, { work, group: 'web', repo, tool: 'fake' }, unmake, (reached) => {
    if (reached !== step) return
    process.kill(process.pid, 'SIGKILL')
    for (;;);
  })
  console.log(`got ${agent.address}`)
} catch (error) {
  console.log(`refused ${(error as { code?: string }).code ?? error}`)
}
process.exit(0)
