// Stays connected to a tmux server, as the daemon does, and asks it for its panes with each byte that it is given.
//   node ask-tmux.mjs <socket>
import { randomBytes, randomUUID } from 'node:crypto'
import { openTerminal } from '../../dist/terminal.js'

const [path] = process.argv.slice(2)
const terminal = await openTerminal({
  socket: { path },
  context: { clock: Date, random: { bytes: randomBytes, uuid: randomUUID }, warn: () => {}, progress: () => {} },
  executable: process.env.TEST_TMUX || 'tmux',
  environment: { PATH: process.env.PATH },
  kept: true,
})
await terminal.panes()
process.stdout.write('connected\n')
process.stdin.on('data', () => {
  terminal.panes().catch(() => {})
  setImmediate(() => process.stdout.write('asked\n'))
})
