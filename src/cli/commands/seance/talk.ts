import { seanceTalk } from '../../../operations/index.js'
import { givenText } from '../../input/own-agent.js'
import { operationCommand } from '../../operation-command.js'
import { safe, safeText } from '../../screen/safe-text.js'

export const talk = operationCommand(seanceTalk, {
  name: 'seance talk',
  examples: [['skein seance talk 22222222 --prompt "why did you drop the cache?"', 'Ask it, in a copy']],
  args: ['session'],
  prepare: ({ prompt, ...typed }, cli) => ({ ...typed, prompt: givenText(prompt, cli) }),
  fails: ({ reply, reason }) => reply === undefined && reason !== undefined,
  show({ agent, reply, reason }, { out }) {
    if (reply !== undefined) return out.text(reply.split('\n').map(safeText).join('\n'))
    if (reason !== undefined) return out.note(safe`No reply: ${reason}`)
    out.text(
      safe`Started ${agent.address} in a copy. Go to it: skein attach ${agent.address} . When done: skein remove ${agent.address} --force`,
    )
  },
})
