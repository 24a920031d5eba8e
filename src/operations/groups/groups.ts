import { type GroupPath, isWithin } from '../../model/index.js'
import { optional, required } from '../field.js'
import { groupRef, text } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'

export const groupCreate = operation({
  name: 'group.create',
  does: 'acts',
  where: 'either',
  summary: 'Create a group',
  input: { path: required(groupRef, 'Its path: web or web/mobile') },
  result: 'group',
  run: async ({ path }, { home }) => (await home()).roster.createGroup(path),
})

export const groupRename = operation({
  name: 'group.rename',
  does: 'acts',
  where: 'either',
  summary: 'Rename or move a group',
  description: 'Its agents and sub-groups move with it.',
  input: {
    group: required(groupRef, 'Path of the group'),
    to: required(text('name'), 'A new name, or a whole new path'),
  },
  result: 'group',
  run: async ({ group, to }, { home }) => (await home()).roster.renameGroup(group, to),
})

export const groupDelete = operation({
  name: 'group.delete',
  does: 'acts',
  where: 'either',
  summary: 'Delete a group',
  description: 'Deletes its sub-groups too. A group that contains agents is deleted only with --move-to.',
  input: {
    group: required(groupRef, 'Path of the group'),
    move_to: optional(groupRef, 'Move its agents there first'),
  },
  result: 'group-deletion',
  async run({ group, move_to: moveTo }, { home }) {
    const { moved } = await (await home()).roster.deleteGroup(group, present({ moveTo }))
    return { deleted: group, moved }
  },
})

export const groupList = operation({
  name: 'group.list',
  does: 'reads',
  where: 'either',
  summary: 'List groups',
  input: {},
  result: 'groups',
  async run(_, { home }) {
    const { roster } = await home()
    const agents = await roster.agents()
    const countIn = (path: GroupPath): number =>
      agents.filter((agent) => agent.group_path && isWithin(agent.group_path, path)).length
    return { groups: (await roster.groups()).map((group) => ({ ...group, agents: countIn(group.path) })) }
  },
})
