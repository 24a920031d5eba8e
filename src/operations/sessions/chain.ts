import type { Chain } from '../../home/index.js'
import type { Spent } from '../../index/index.js'
import { required } from '../field.js'
import { sessionRef } from '../kind.js'
import { operation } from '../operation.js'
import { type ShownSession, withSpent } from './page.js'
import { sumOf } from './spent-sum.js'

/** What a line of work can be named by. */
export const REFERENCE = required(
  { ...sessionRef, placeholder: '<reference>' },
  'A session, an agent, a chain or a unit of work',
)

/** Chains with what their sessions, and all of them, have cost. */
export interface ShownChains {
  chains: (Omit<Chain, 'sessions'> & { sessions: ShownSession[] })[]
  duration_ms: number
  spent?: Pick<Spent, 'micro_usd' | 'unpriced_calls'>
}

export const sessionsChain = operation({
  name: 'sessions.chain',
  does: 'reads',
  where: 'either',
  summary: 'Show the sessions of one line of work',
  description:
    'A chain links sessions that were handed off, restarted after a crash, or cleared. A unit of work may have several chains.',
  input: { reference: REFERENCE },
  result: 'chains',
  async run({ reference }, { home }): Promise<ShownChains> {
    const { sessions, history } = await home()
    const chains = await sessions.chain(reference)
    const duration_ms = chains.reduce((sum, one) => sum + one.duration_ms, 0)
    const spent = await history.spent(chains.flatMap((one) => one.sessions.map(({ id }) => id)))
    const priced = chains.map((one) => ({ ...one, sessions: one.sessions.map((session) => withSpent(session, spent)) }))
    return { chains: priced, duration_ms, ...(spent.size > 0 ? { spent: sumOf(spent) } : {}) }
  },
})
