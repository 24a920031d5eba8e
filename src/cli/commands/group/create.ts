import { groupRef, required } from '../../../operations/index.js'
import { command } from '../../command.js'
import { safe } from '../../screen/safe-text.js'

export const create = command({
  name: 'group create',
  summary: 'Create a group',
  examples: [['skein group create web/mobile', 'A group in a group; both exist afterwards']],
  args: { path: required(groupRef, 'Its path: web or web/mobile') },
  options: {},
  async run({ path }, { home, out }) {
    const group = await (await home()).roster.createGroup(path)
    out.result(group, () => safe`Created ${group.path}`)
  },
})
