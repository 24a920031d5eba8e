import { groupRef, required, text } from '../../../operations/index.js'
import { command } from '../../command.js'
import { safe } from '../../screen/safe-text.js'

export const rename = command({
  name: 'group rename',
  summary: 'Rename or move a group',
  description: 'Its agents and sub-groups come along.',
  examples: [
    ['skein group rename lab bench', 'Another name in the same place'],
    ['skein group rename lab ops/lab', 'Another place in the tree'],
  ],
  args: {
    group: required(groupRef, 'Path of the group'),
    to: required(text('name'), 'A new name, or a whole new path'),
  },
  options: {},
  async run({ group: path, to }, { home, out }) {
    const group = await (await home()).roster.renameGroup(path, to)
    out.result(group, () => safe`Renamed ${path} to ${group.path}`)
  },
})
