import { PRIORITIES, type Priority, parseGroupPath, parseSessionId, WORK_STATUSES } from '../../model/index.js'
import { defaulted, flag, optional, repeated, required } from '../field.js'
import { agentRef, choice, count, freeText, groupRef, sessionRef, text } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'
import { readerMeant } from './agent-meant.js'

export const WORK = required(text('work'), 'Id of the unit')
export const priority = choice('priority', PRIORITIES.map(String))
export const priorityOf = (given: string | undefined): { priority?: Priority } =>
  given === undefined ? {} : { priority: Number(given) as Priority }

export const workAdd = operation({
  name: 'work.add',
  does: 'acts',
  where: 'either',
  summary: 'Add a unit of work',
  input: {
    title: required(text('title'), 'What is to be done, in one line'),
    body: optional(freeText('text'), 'Everything else about it'),
    priority: optional(priority, 'From 0, the most urgent, to 4', { fallback: '2' }),
    group: optional(groupRef, 'The group whose agents should do it'),
    molecule: optional(text('id'), 'The plan it belongs to'),
    agent: optional(agentRef, 'Put it on the hook of this agent'),
  },
  result: 'work',
  async run({ title, body, priority: urgency, group, molecule: molecule_id, agent }, { home }) {
    const open = await home()
    const owner = agent === undefined ? undefined : await open.roster.agent(agent)
    const unit = await open.work.add({
      title,
      ...present({ body, molecule_id }),
      ...priorityOf(urgency),
      ...(group === undefined ? {} : { group: parseGroupPath(group) }),
    })
    return owner ? open.work.hook(unit.id, owner) : unit
  },
})

export const workList = operation({
  name: 'work.list',
  does: 'reads',
  where: 'either',
  summary: 'List units of work, the most urgent first',
  input: {
    agent: optional(agentRef, 'Only those of this agent'),
    group: optional(groupRef, 'Only those of this group'),
    status: repeated(choice('status', WORK_STATUSES), 'Only those with this status'),
    all: flag('Also those that are done', { short: 'a' }),
    limit: defaulted(count, 100, 'How many at most', { short: 'n' }),
  },
  result: 'work-list',
  async run({ agent, group, status, all, limit }, { home }) {
    const open = await home()
    const wanted = status.length > 0 ? status : all ? WORK_STATUSES : undefined
    const work = await open.work.list({
      ...(agent === undefined ? {} : { agent: await readerMeant(open, agent) }),
      ...(group === undefined ? {} : { group: parseGroupPath(group) }),
      ...(wanted ? { status: wanted } : {}),
      limit,
    })
    return { work }
  },
})

export const workShow = operation({
  name: 'work.show',
  does: 'reads',
  where: 'either',
  summary: 'Show one unit of work',
  input: { work: WORK },
  result: 'work',
  run: async ({ work }, { home }) => (await home()).work.show(work),
})

export const workHook = operation({
  name: 'work.hook',
  does: 'acts',
  where: 'either',
  summary: "Put a unit on an agent's hook: what it does next",
  description: 'Of several agents that want the same unit, one gets it.',
  input: { work: WORK, agent: required(agentRef, 'Whose hook') },
  result: 'work',
  async run({ work, agent }, { home }) {
    const open = await home()
    return open.work.hook(work, await open.roster.agent(agent))
  },
})

export const workUnhook = operation({
  name: 'work.unhook',
  does: 'acts',
  where: 'either',
  summary: 'Take a unit off its hook',
  input: { work: WORK },
  result: 'work',
  run: async ({ work }, { home }) => (await home()).work.unhook(work),
})

const REASON = optional(freeText('text'), 'Why, in words')

export const workDone = operation({
  name: 'work.done',
  does: 'acts',
  where: 'either',
  summary: 'Record that a unit is done',
  input: { work: WORK, reason: REASON, session: optional(sessionRef, 'The session that did it') },
  result: 'work',
  run: async ({ work, reason, session }, { home }) =>
    (await home()).work.close(work, {
      status: 'done',
      ...present({ reason }),
      ...(session === undefined ? {} : { session: parseSessionId(session) }),
    }),
})

export const workBlock = operation({
  name: 'work.block',
  does: 'acts',
  where: 'either',
  summary: 'Record that a unit cannot go on',
  description: 'It leaves its hook. Put it on one again when the reason is gone.',
  input: { work: WORK, reason: REASON },
  result: 'work',
  run: async ({ work, reason }, { home }) =>
    (await home()).work.close(work, { status: 'blocked', ...present({ reason }) }),
})
