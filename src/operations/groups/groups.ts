import { type GroupPath, isWithin } from '../../model/index.js'
import { flag, optional, required } from '../field.js'
import { freeText, groupRef, place, text } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'
import { usageError } from '../usage-error.js'

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

export const groupSet = operation({
  name: 'group.set',
  does: 'acts',
  where: 'either',
  summary: 'Change how a group is shown',
  description: 'A folded group is one line in lists, with its agents counted by status.',
  input: {
    group: required(groupRef, 'Path of the group'),
    name: optional(freeText('text'), 'The name shown to people; empty for the last part of its path'),
    order: optional(place, 'Its place among the groups beside it; lower comes first'),
    expanded: flag('Show what is in it'),
    folded: flag('Show only one line for it'),
  },
  result: 'group',
  async run({ group, name, order, expanded, folded }, { home }) {
    const see = 'See: skein group set --help'
    if (expanded && folded) throw usageError('A group is either expanded or folded', `Name one of them. ${see}`)
    if (name === undefined && order === undefined && !expanded && !folded)
      throw usageError('Nothing to change', `Name what to change, for example --name. ${see}`)
    const shown = expanded || folded ? { expanded } : {}
    return (await home()).roster.updateGroup(group, { ...present({ name, order }), ...shown })
  },
})

const PARKED = required(groupRef, 'Path of the group')

export const groupPark = operation({
  name: 'group.park',
  does: 'acts',
  where: 'either',
  summary: 'Start nothing in a group for now',
  description:
    'Agents that run go on. Nothing is started, restarted or recovered in it or below it until it is unparked.',
  input: { group: PARKED, reason: optional(freeText('text'), 'Why, in words') },
  result: 'group',
  run: async ({ group, reason }, { home }) =>
    (await home()).roster.parkGroup(group, { parked: true, ...present({ reason }) }),
})

export const groupUnpark = operation({
  name: 'group.unpark',
  does: 'acts',
  where: 'either',
  summary: 'Allow starts in a parked group again',
  input: { group: PARKED },
  result: 'group',
  run: async ({ group }, { home }) => (await home()).roster.parkGroup(group, { parked: false }),
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
