import { repeated } from '../field.js'
import { text } from '../kind.js'
import { operation } from '../operation.js'
import { usageError } from '../usage-error.js'
import { AGENT } from './agent-fields.js'

export const agentsKeys = operation({
  name: 'agents.keys',
  does: 'acts',
  where: 'daemon',
  summary: 'Press keys in an agent',
  description:
    'Keys are tmux names (Enter, Escape, C-c, Down) or single characters. Nothing is checked: in a dialog, a key is an answer.',
  input: { agent: AGENT, keys: repeated(text('key'), 'The keys, in order') },
  result: 'receipt',
  async run({ agent, keys }, { agents }) {
    if (keys.length === 0) throw usageError('Missing <keys>', 'Usage: skein keys <agent> <keys...>')
    return (await agents()).keys(agent, keys)
  },
})
