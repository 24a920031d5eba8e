import { momentToCome } from '../duration.js'
import { flag, optional, required } from '../field.js'
import { agentRef, groupRef, text, wrongInput } from '../kind.js'
import { operation } from '../operation.js'
import { AGENT } from './agent-fields.js'

export const agentsRename = operation({
  name: 'agents.rename',
  does: 'acts',
  where: 'daemon',
  summary: 'Rename an agent',
  description: 'It stays in its group; the tmux session it runs in is renamed with it.',
  input: { agent: AGENT, name: required(text('name'), 'The new name, without a group') },
  result: 'receipt',
  run: async ({ agent, name }, { agents }) => (await agents()).rename(agent, name),
})

export const agentsMove = operation({
  name: 'agents.move',
  does: 'acts',
  where: 'daemon',
  summary: 'Move an agent to another group',
  description: 'Without a group it moves to the top. The tmux session it runs in is renamed with it.',
  input: { agent: AGENT, group: optional(groupRef, 'The group to move it to') },
  result: 'receipt',
  run: async ({ agent, group }, { agents }) => (await agents()).move(agent, group),
})

export const agentsArchive = operation({
  name: 'agents.archive',
  does: 'acts',
  where: 'daemon',
  summary: 'Archive an agent',
  description: 'An archived agent is listed only with --all. It must be stopped first.',
  input: { agent: AGENT },
  result: 'receipt',
  run: async ({ agent }, { agents }) => (await agents()).archive(agent),
})

export const agentsUnarchive = operation({
  name: 'agents.unarchive',
  does: 'acts',
  where: 'daemon',
  summary: 'Restore an archived agent',
  description: 'It is listed again, and can be started.',
  input: { agent: AGENT },
  result: 'receipt',
  run: async ({ agent }, { agents }) => (await agents()).unarchive(agent),
})

export const agentsRemove = operation({
  name: 'agents.remove',
  does: 'acts',
  where: 'daemon',
  summary: 'Remove an agent, or undo that',
  description: 'Keeps its conversations. --undo restores the agent for 30 days.',
  input: {
    agent: optional(agentRef, 'Address, unique suffix, title, id, or . for the current directory'),
    undo: flag('Restore it'),
    force: flag('Kill it first if it is running'),
  },
  result: 'receipt',
  async run({ agent, undo, force }, context) {
    if (agent === undefined && !undo) throw wrongInput('"agent" is missing', 'Name the agent to remove, or undo')
    const agents = await context.agents()
    return undo || agent === undefined ? agents.undoRemove(agent) : agents.remove(agent, { force })
  },
})

export const agentsSnooze = operation({
  name: 'agents.snooze',
  does: 'acts',
  where: 'daemon',
  summary: 'Hide a finished reply for a while',
  description: 'It returns at the given time, or with the next reply. A question is never hidden.',
  input: { agent: AGENT, until: required(momentToCome, 'For how long, or until when') },
  result: 'receipt',
  run: async ({ agent, until }, { agents }) => (await agents()).snooze(agent, until),
})
