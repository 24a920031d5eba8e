import { join } from 'node:path'
import { daemonFiles, readSegment } from '../../daemon/index.js'
import { command } from '../command.js'

/** Without options `src/statusline-main.ts` answers, which does the same and starts sooner. */
export const statusline = command({
  name: 'statusline',
  summary: 'Print one segment for a status line or a prompt',
  description:
    'For example "!2 ▶3": two agents wait, three work; ✗ counts failed agents. Prints nothing if there is nothing to show. tmux can show the same without a process; see docs/API.md.',
  examples: [
    ['skein statusline', 'What a prompt shows'],
    ['skein statusline --json', 'The same, for scripts'],
  ],
  args: {},
  options: {},
  async run(_, { daemon, profile, out }) {
    const segment = readSegment(daemonFiles(daemon.root, profile), join(daemon.root, 'profiles', profile))
    out.result({ segment }, () => segment)
  },
})
