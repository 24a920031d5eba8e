import type { Receipt } from '../../lifecycle/index.js'
import { safe } from '../screen/safe-text.js'

/** What was done, and how that is known. */
export function receiptView({ did, how }: Receipt): string {
  const done = did.charAt(0).toUpperCase() + did.slice(1)
  return safe`${done}: ${how}`
}
