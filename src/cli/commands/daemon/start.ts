import { accessTo, ensureDaemon } from '../../../daemon/index.js'
import { command } from '../../command.js'
import { safe } from '../../screen/safe-text.js'

export const start = command({
  name: 'daemon start',
  summary: 'Start the daemon of this profile, if none runs',
  description:
    'Commands start it automatically unless [daemon] autostart = false is in your config file. Replaces a daemon of an older version. Everything also works without it.',
  examples: [
    ['skein daemon start', 'Make sure that one is running'],
    ['skein daemon start --json', 'The same, for scripts'],
  ],
  args: {},
  options: {},
  async run(_, { daemon, profile, out }) {
    const { client, did } = await ensureDaemon(accessTo(daemon, profile))
    const { pid, version, socket } = client.record
    const verb = { found: 'runs already', started: 'started', replaced: 'replaced an older one' }[did]
    out.result({ did, pid, version, socket }, () => safe`The daemon ${verb}: process ${pid}, version ${version}`)
  },
})
