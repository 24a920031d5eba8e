import { sessionsTree } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { idsIn, sessionTreeView } from '../../views/session-tree-view.js'

export const tree = operationCommand(sessionsTree, {
  name: 'sessions tree',
  examples: [['skein sessions tree 0f3c9a12', 'The lineage of a session']],
  args: ['session'],
  async show(root, { home, out }, { session }) {
    const { sessions } = await home()
    const { id } = await sessions.find(session)
    const short = await sessions.shortIds(idsIn(root))
    out.result(root, (screen) => sessionTreeView(root, { asked: id, short }, screen))
  },
})
