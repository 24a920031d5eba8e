import { accessTo, stopDaemon } from '../../../daemon/index.js'
import { command } from '../../command.js'
import { safe } from '../../screen/safe-text.js'

export const stop = command({
  name: 'daemon stop',
  summary: 'Stop the daemon of this profile',
  description: 'Agents keep running. The next command that needs a daemon starts one again.',
  examples: [['skein daemon stop', 'Stop it and wait until it has exited']],
  args: {},
  options: {},
  async run(_, { daemon, profile, out }) {
    const stopped = await stopDaemon(accessTo(daemon, profile))
    out.result({ stopped: stopped !== undefined, ...(stopped ? { pid: stopped.pid } : {}) }, () =>
      stopped ? safe`The daemon (process ${stopped.pid}) has ended` : 'No daemon runs for this profile',
    )
  },
})
