import { join } from 'node:path'
import { openHome } from '../../../src/home/index.js'
import { handOff, planHandoff } from '../../../src/lifecycle/handoff/handoff.js'
import type { HandoffKind } from '../../../src/lifecycle/handoff/marker.js'
import { configuredParts } from '../../../src/lifecycle/index.js'
import { contextOf } from '../context.js'
import { fakeTool } from '../fake-tool.js'

/** Hands an agent off as a process of its own that is killed when it gets to a step. argv: the workshop's root, the step, the program, the kind. */
const [root = '', step, program = '', kind = 'fresh'] = process.argv.slice(2)
const env = { PATH: process.env.PATH ?? '', HOME: root, FAKE_LOG: join(root, 'fake.log') }
const context = contextOf([])
const configFile = join(root, 'config.toml')
const home = await openHome({ root, configFile, surroundings: { home: root, env, zone: 'UTC' }, context })
const facts = { ownRoot: root, temporary: root, userId: undefined }
const configured = await configuredParts({ home, context, configFile, facts })
const runner = fakeTool()
const prepare: typeof runner.prepare = (launch) => runner.prepare({ ...launch, command: [process.execPath, program] })
const runners = program === '' ? configured.runners : [{ ...runner, prepare }]
const parts = { ...configured, socket: { path: join(root, 'tmux.sock') }, runners }
const die = (): never => {
  process.kill(process.pid, 'SIGKILL')
  for (;;);
}
if (step === 'pane made') {
  const { terminals } = parts
  const of = terminals.of.bind(terminals)
  terminals.of = async (socket) => {
    const terminal = await of(socket)
    const respawn = terminal.respawn.bind(terminal)
    terminal.respawn = async (...args) => {
      await respawn(...args)
      return die()
    }
    return terminal
  }
}
const agent = await home.roster.agent('toast')
const unit = (await home.work.list())[0]
const options = { kind: kind as HandoffKind, message: 'carry on', ...(unit ? { work: unit.id } : {}) }
const plan = await planHandoff(parts, agent, options)
await handOff(parts, plan, (reached) => {
  if (reached === step) die()
})
console.log('done')
process.exit(0)
