import { command } from '../command.js'
import { duration } from '../input/duration.js'
import { flag, optional, required } from '../input/input.js'
import { agentRef, freeText } from '../input/value-kind.js'
import { safe, safeText } from '../screen/safe-text.js'
import { receiptView } from '../views/receipt-view.js'

export const send = command({
  name: 'send',
  summary: 'Send a prompt to an agent',
  description:
    'Typed as one paste, then Enter; never into a dialog, and never twice. The receipt says who confirmed it: `received` (its program, its log or its being at work), `typed` (it left the input line), `stalled` (nothing has moved). A text that the tool would take as a command is refused. With --wait, a turn that fails, is interrupted or waits for an answer ends with 1 and says so. "-" reads the text from standard input.',
  examples: [
    ['skein send web/demo "look at the tests"', 'Something to do'],
    ['skein send web/demo "look at the tests" --wait --timeout 1m', 'Wait for the reply and print it'],
  ],
  args: {
    agent: required(agentRef, 'Address, end of it, title, id, or . for here'),
    text: required(freeText('text'), 'What to say, or - for standard input'),
  },
  options: {
    wait: flag('Wait until it is done, and print its reply to this prompt'),
    timeout: optional(duration, 'How long to wait at most'),
    'replace-draft': flag('Throw away unsent text in its input line'),
  },
  async run({ agent, text, wait, timeout, 'replace-draft': replaceDraft }, cli) {
    const prompt = text === '-' ? cli.stdin() : text
    const agents = await cli.agents()
    const sent = await agents.send(agent, prompt, {
      wait,
      replaceDraft,
      ...(timeout === undefined ? {} : { timeoutMs: timeout }),
      ...(wait ? { signal: cli.interrupted() } : {}),
    })
    const { reply, outcome, reason = '' } = sent
    cli.out.result(sent, () => {
      if (reply !== undefined) return linesOf(reply)
      const receipt = `${receiptView(sent)} (${sent.delivery})`
      return outcome === undefined ? receipt : `${receipt}\n${safe`${OUTCOMES[outcome]}: ${reason}`}`
    })
    if (sent.delivery === 'stalled' || (outcome !== undefined && outcome !== 'replied')) cli.out.fails()
  },
})

const OUTCOMES = {
  replied: 'It replied',
  failed: 'No reply, the turn failed',
  interrupted: 'No reply, the turn was interrupted',
  asks: 'No reply yet, it waits for an answer',
  unknown: 'No reply is known',
} as const

const linesOf = (text: string): string => text.split('\n').map(safeText).join('\n')
