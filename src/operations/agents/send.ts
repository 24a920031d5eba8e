import { duration } from '../duration.js'
import { flag, optional, required } from '../field.js'
import { freeText } from '../kind.js'
import { operation } from '../operation.js'
import { AGENT } from './agent-fields.js'

export const agentsSend = operation({
  name: 'agents.send',
  does: 'acts',
  where: 'daemon',
  summary: 'Send a prompt to an agent',
  description:
    'Typed as one paste, then Enter; never into a dialog, and never twice. The receipt says who confirmed it: `received` (its program, its log or its being at work), `typed` (it left the input line), `stalled` (nothing has moved). A text that the tool would take as a command is refused.',
  input: {
    agent: AGENT,
    text: required(freeText('text'), 'What to say'),
    wait: flag('Wait until it is done, and print its reply to this prompt'),
    timeout: optional(duration, 'How long to wait at most'),
    replace_draft: flag('Throw away unsent text in its input line'),
  },
  result: 'send-receipt',
  run: async ({ agent, text, wait, timeout, replace_draft }, { agents, abandoned }) =>
    (await agents()).send(agent, text, {
      wait,
      replaceDraft: replace_draft,
      ...(timeout === undefined ? {} : { timeoutMs: timeout }),
      ...(wait ? { signal: abandoned() } : {}),
    }),
})
