import { optional } from '../field.js'
import { choice, freeText, wrongInput } from '../kind.js'
import { operation } from '../operation.js'
import { AGENT, TOKEN } from './agent-fields.js'

export const agentsAnswer = operation({
  name: 'agents.answer',
  does: 'acts',
  where: 'daemon',
  summary: 'Answer what an agent asks',
  description:
    "Uses the tool's own protocol if it has one; otherwise selects the option in its dialog and checks the screen before Enter. With a token, an answer to an older question is refused.",
  input: {
    agent: AGENT,
    decision: optional(choice('decision', ['allow', 'allow-always', 'deny']), 'What it may do'),
    choose: optional(freeText('label'), 'Or an option, by its label or by a unique beginning of it'),
    token: TOKEN,
  },
  result: 'receipt',
  async run({ agent, decision, choose, token }, { agents }) {
    const answer = decision === undefined ? choose !== undefined && { choose } : { decision }
    if (!answer || (decision !== undefined && choose !== undefined))
      throw wrongInput('An answer is a decision or a label to choose', 'Use one of "decision" and "choose"')
    return (await agents()).answer(agent, answer, token === undefined ? {} : { token })
  },
})
