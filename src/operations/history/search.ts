import { defaulted, optional, required } from '../field.js'
import { agentRef, choice, count, groupRef, path, text, when } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'

export const PART = choice('part', ['prompts', 'replies', 'tools'] as const)

export const search = operation({
  name: 'search',
  does: 'reads',
  where: 'either',
  summary: 'Find what was said in any session',
  description:
    'Searches prompts, replies, tool calls with their results, and titles of all ingested logs. All words must occur in one of them, in any order and case. "Quotes" keep words together, a trailing * matches a prefix, identifiers such as read_file or src/app.ts are found whole and by their parts. The newest day comes first; within a day, the best match.',
  input: {
    text: required(text('words'), 'What to search for'),
    in: optional(PART, 'Only in prompts, replies or tools'),
    directory: optional(path('directory', 'directory'), 'Only in sessions that worked there or below'),
    tool: optional(text('tool'), 'A program (claude) or a tool that was called (Bash)'),
    agent: optional(agentRef, 'Only sessions of this agent'),
    group: optional(groupRef, 'Only sessions of agents in this group and below it'),
    since: optional(when, 'Only what was said since then: 1h, 7d, today, yesterday, 2026-01-17 or a full time'),
    limit: defaulted(count, 20, 'At most this many hits', { short: 'n' }),
  },
  result: 'search',
  run: async ({ text: words, in: part, directory, tool, agent, group, since, limit }, { home }) =>
    (await home()).history.search({
      text: words,
      ...present({ in: part, directory, tool, agent, group, since }),
      limit,
    }),
})
