import { agentRef, required } from '../../operations/index.js'
import { command } from '../command.js'
import { explanationView } from '../views/explanation-view.js'

export const why = command({
  name: 'why',
  summary: 'Show the evidence behind a status',
  description: 'What each source says now, which one decided, and how the status came to be, from the journal.',
  examples: [['skein why web/demo', 'Why is it so?']],
  args: { agent: required(agentRef, 'Address, end of it, title, id, or . for here') },
  options: {},
  async run({ agent }, { agents, out }) {
    const explanation = await (await agents()).why(agent)
    out.result(explanation, (screen) => explanationView(explanation, screen))
  },
})
