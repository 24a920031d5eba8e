import type { SendReceipt } from '../../lifecycle/index.js'
import { safe } from '../screen/safe-text.js'

const OUTCOMES: Readonly<Record<NonNullable<SendReceipt['outcome']>, string>> = {
  replied: 'It replied',
  failed: 'No reply, the turn failed',
  interrupted: 'No reply, the turn was interrupted',
  asks: 'No reply yet, it waits for an answer',
  unknown: 'No reply is known',
}
/** How the reason of a failure begins where it is shown alone. */
const TOLD_ALREADY = /^the (last )?turn failed: /

/** What a prompt led to that has no reply. */
export const outcomeLine = (outcome: NonNullable<SendReceipt['outcome']>, reason: string): string =>
  safe`${OUTCOMES[outcome]}: ${reason.replace(TOLD_ALREADY, '')}`
