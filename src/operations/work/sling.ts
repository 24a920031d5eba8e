import { optional, required } from '../field.js'
import { groupRef, path, text } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'
import { WORK } from './work.js'

export const sling = operation({
  name: 'sling',
  does: 'acts',
  where: 'either',
  summary: 'Give a unit of work to an agent of a group, and start it',
  description:
    'An agent of the role that does not run and has nothing on its hook gets it, else a new one. It works in a git worktree of its own. If it is not ready within 30 s, everything is undone.',
  input: {
    work: WORK,
    group: required(groupRef, 'The group whose agent should do it'),
    role: optional(text('role'), 'The role of the agent', {
      fallback: 'polecat where there is that role, else worker',
    }),
    tool: optional(text('tool'), 'The program that a new agent runs'),
    repo: optional(path('directory', 'directory'), 'The repository to work in', {
      fallback: 'that of the group, or of its agents',
    }),
  },
  result: 'sling-receipt',
  run: async ({ work, group, ...more }, { agents }) => (await agents()).sling({ work, group, ...present(more) }),
})
