import { operation } from '../operation.js'
import { SESSION } from './session-ref.js'

export const sessionsTree = operation({
  name: 'sessions.tree',
  does: 'reads',
  where: 'either',
  summary: 'Draw how sessions continue and fork',
  description:
    'Shows the whole lineage of a session: what it continues, what continues it, and what was forked from it.',
  input: { session: SESSION },
  result: 'tree',
  run: async ({ session }, { home }) => (await home()).sessions.tree(session),
})
