import { groupRef, optional, present, required } from '../../../operations/index.js'
import { command } from '../../command.js'
import { plural } from '../../screen/plural.js'
import { safe } from '../../screen/safe-text.js'

export const deleteGroup = command({
  name: 'group delete',
  summary: 'Delete a group',
  description: 'Its sub-groups go too. A group with agents in it is not deleted unless --move-to says where they go.',
  examples: [
    ['skein group delete attic', 'A group without agents'],
    ['skein group delete kitchen --move-to web', 'Keep its agents, in another group'],
  ],
  args: { group: required(groupRef, 'Path of the group') },
  options: { 'move-to': optional(groupRef, 'Move its agents there first') },
  async run({ group: path, 'move-to': moveTo }, { home, out }) {
    const { moved } = await (await home()).roster.deleteGroup(path, present({ moveTo }))
    out.result({ deleted: path, moved }, () =>
      moved === 0
        ? safe`Deleted ${path}`
        : safe`Deleted ${path} and moved ${plural(moved, 'agent')} to ${moveTo ?? ''}`,
    )
  },
})
