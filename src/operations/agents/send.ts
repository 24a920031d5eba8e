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
    'Pastes the text and presses Enter; never into a dialog, and never twice. The receipt says what confirmed it: `received` (its program, its log or its activity), `typed` (the text left the input line), `stalled` (nothing changed). Text that the tool would take as a command is refused.',
  input: {
    agent: AGENT,
    text: required(freeText('text'), 'The prompt'),
    wait: flag('Wait until it is done, and print its reply to this prompt'),
    timeout: optional(duration, 'How long to wait at most'),
    replace_draft: flag('Discard unsent text in its input line'),
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
