import { agentsAnswer, freeText, required } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { receiptView } from '../views/receipt-view.js'

export const answer = operationCommand(agentsAnswer, {
  name: 'answer',
  summary: "Choose an option of an agent's question",
  description: 'By its label, or by a unique beginning of it. skein why shows what is asked.',
  examples: [['skein answer web/asker "Yes"', 'Choose by label']],
  args: ['agent', 'label'],
  fields: { decision: undefined, choose: undefined },
  own: { label: required(freeText('label'), "The option's label") },
  prepare: ({ agent, label, token }) => ({ agent, choose: label, token }),
  view: receiptView,
})
