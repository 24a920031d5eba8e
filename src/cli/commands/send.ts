import { agentsSend, freeText, required } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { safeText } from '../screen/safe-text.js'
import { outcomeLine } from '../views/outcome-line.js'
import { receiptView } from '../views/receipt-view.js'

export const send = operationCommand(agentsSend, {
  name: 'send',
  description: `${agentsSend.description} With --wait, a turn that fails, is interrupted or waits for an answer ends with 1 and says so. "-" reads the text from standard input.`,
  examples: [
    ['skein send web/demo "look at the tests"', 'A prompt'],
    ['skein send web/demo "look at the tests" --wait --timeout 1m', 'Wait for the reply and print it'],
  ],
  args: ['agent', 'text'],
  fields: { text: required(freeText('text'), 'The prompt, or - for standard input') },
  prepare: (typed, { stdin }) => ({ ...typed, text: typed.text === '-' ? stdin() : typed.text }),
  fails: ({ delivery, outcome }) => delivery === 'stalled' || (outcome !== undefined && outcome !== 'replied'),
  view: (sent) => {
    const { reply, outcome, reason = '' } = sent
    if (reply !== undefined) return linesOf(reply)
    const receipt = `${receiptView(sent)} (${sent.delivery})`
    return outcome === undefined ? receipt : `${receipt}\n${outcomeLine(outcome, reason)}`
  },
})

const linesOf = (text: string): string => text.split('\n').map(safeText).join('\n')
