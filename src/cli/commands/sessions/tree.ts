import { command } from '../../command.js'
import { required } from '../../input/input.js'
import { sessionRef } from '../../input/value-kind.js'
import { idsIn, sessionTreeView } from '../../views/session-tree-view.js'

export const tree = command({
  name: 'sessions tree',
  summary: 'Draw how sessions continue and fork',
  description: 'The whole lineage of a session: what it continues, what continues it, and what was forked from it.',
  examples: [['skein sessions tree 0f3c9a12', 'The lineage of a session']],
  args: { session: required(sessionRef, 'The beginning of its id, or an agent that is in it') },
  options: {},
  async run({ session }, { home, out }) {
    const { sessions } = await home()
    const [{ id }, root] = await Promise.all([sessions.find(session), sessions.tree(session)])
    const short = await sessions.shortIds(idsIn(root))
    out.result(root, (screen) => sessionTreeView(root, { asked: id, short }, screen))
  },
})
