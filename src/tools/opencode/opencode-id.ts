import { createHash } from 'node:crypto'
import { parseSessionId, type SessionId } from '../../model/index.js'

/** Its ids start with `ses`. */
export const opencodeId = (id: SessionId): SessionId =>
  id.startsWith('ses') ? id : parseSessionId(`ses_${id.replaceAll('-', '')}`)

/** Twelve digits of time and count, then fourteen that are random. */
const OWN_FORM = /^((?:msg|prt)_[0-9a-f]{12})[0-9A-Za-z]+$/

/** An id for the copy of a message or part, which sorts as the one it is made from does. */
export function copiedId(
  id: string,
  kind: 'msg' | 'prt',
  session: SessionId,
  order: { ms: number; nth: number },
): string {
  const random = createHash('sha256').update(`${session}/${id}`).digest('hex').slice(0, 14)
  const time = BigInt(Math.trunc(order.ms)) * 4096n + BigInt(order.nth % 4096)
  const made = `${kind}_${(time & 0xffffffffffffn).toString(16).padStart(12, '0')}`
  return `${OWN_FORM.exec(id)?.[1] ?? made}${random}`
}
