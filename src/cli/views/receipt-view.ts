import type { Receipt } from '../../lifecycle/index.js'
import { safe } from '../screen/safe-text.js'

/** What was done, and how that is known. It begins with a verb; an address is never capitalised. */
export function receiptView({ agent, did, how }: Receipt): string {
  const done = did.startsWith(agent.address) ? did : did.charAt(0).toUpperCase() + did.slice(1)
  return safe`${done}: ${how}`
}
