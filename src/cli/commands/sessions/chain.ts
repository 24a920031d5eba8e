import { command } from '../../command.js'
import { required } from '../../input/input.js'
import { sessionRef } from '../../input/value-kind.js'
import { chainView, totalOf } from '../../views/chain-view.js'
import { withSpent } from '../../views/session-pages.js'
import { tableFacts } from '../../views/session-table.js'

export const chain = command({
  name: 'sessions chain',
  summary: 'Show the sessions of one line of work',
  description:
    'Sessions are in one chain when they were handed off, restarted after a crash, or cleared. A unit of work may have several chains.',
  examples: [
    ['skein sessions chain 0f3c9a12', 'The chain that a session belongs to'],
    ['skein sessions chain wk-42', 'Every chain that worked on a unit of work'],
  ],
  args: {
    reference: required(
      { ...sessionRef, placeholder: '<reference>' },
      'A session, an agent, a chain or a unit of work',
    ),
  },
  options: {},
  async run({ reference }, { home, out }) {
    const open = await home()
    const chains = await open.sessions.chain(reference)
    const duration_ms = chains.reduce((sum, one) => sum + one.duration_ms, 0)
    const facts = await tableFacts(
      open,
      chains.flatMap((one) => one.sessions),
    )
    const { spent } = facts
    const priced = chains.map((one) => ({ ...one, sessions: one.sessions.map((session) => withSpent(session, spent)) }))
    const total = spent.size > 0 ? { spent: totalOf(spent) } : {}
    out.result({ chains: priced, duration_ms, ...total }, (screen) => chainView(chains, duration_ms, facts, screen))
  },
})
