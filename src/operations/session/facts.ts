import type { StartOptions } from '../../home/index.js'
import { type ForkOrigin, LINKS, parseSessionId, type SessionFacts } from '../../model/index.js'
import { flag, optional, type Values } from '../field.js'
import { agentRef, choice, directory, freeText, groupRef, type Kind, sessionRef, text, when } from '../kind.js'
import { present } from '../present.js'
import { usageError } from '../usage-error.js'

/** What can be said about a session when it starts, hands off or is updated. */
export const FACTS = {
  tool: optional(text('tool'), 'The agent program: claude, codex, gemini ...'),
  title: optional(freeText('text'), 'What the session is about'),
  role: optional(text('role'), "The agent's role"),
  rig: optional(groupRef, 'The outermost group, if no agent is given', { aliases: ['group'] }),
  work: optional(text('unit'), 'The unit of work it is on'),
  molecule: optional(text('id'), 'The plan that the work follows'),
  step: optional(text('step'), 'The step of the plan'),
  cwd: optional(directory, 'Where it runs'),
  branch: optional(text('branch'), 'The git branch it works on'),
  model: optional(text('model'), 'The model to use'),
  tmux: optional(text('session'), 'The tmux session it runs in'),
}

export function factsOf(given: Values<typeof FACTS>): Omit<SessionFacts, 'agent' | 'agent_id'> {
  const { tool, title, role, rig, cwd, branch, model } = given
  return {
    ...present({ tool, title, role, rig, cwd, branch, model }),
    ...present({
      work_unit: given.work,
      molecule_id: given.molecule,
      step_ref: given.step,
      tmux_session: given.tmux,
    }),
  }
}

/** What a session that begins can be given. */
export const START = {
  id: optional(text('id'), "The tool's own id of the session (default: a new id)"),
  agent: optional(agentRef, 'The agent that runs it: of Skein, or any other by its address'),
  ...FACTS,
  started_at: optional(when, 'When it started, if not now'),
}

export const startOf = (given: Values<typeof START>): StartOptions => ({
  ...factsOf(given),
  ...present({ id: given.id, agent: given.agent, started_at: given.started_at }),
})

/** A session, or one of its turns: `<session>` or `<session>:<turn>`. */
const forkOrigin: Kind<ForkOrigin> = {
  placeholder: '<session[:turn]>',
  completes: 'session',
  schema: {
    anyOf: [
      { type: 'string' },
      { type: 'object', properties: { session: { type: 'string' }, turn: { type: 'integer' } }, required: ['session'] },
    ],
  },
  parse: (given) => {
    const [, id = '', turn] = /^([^:]*)(?::(\d{1,9}))?$/.exec(given) ?? []
    if (id === '') throw usageError(`${JSON.stringify(given)} is not a session and turn`, 'Write it like 0f3c9a12:7')
    return { session: parseSessionId(id), ...(turn === undefined ? {} : { turn: Number(turn) }) }
  },
  sent: (value, scope) => {
    if (typeof value !== 'object' || value === null || !('session' in value)) return undefined
    const { session, turn } = value as { session: unknown; turn?: unknown }
    return forkOrigin.parse(`${session}${turn === undefined ? '' : `:${turn}`}`, scope)
  },
}

/** How a session that begins is tied to others. */
export const LINEAGE = {
  parent: optional(sessionRef, 'The session it continues, in the same chain'),
  link: optional(choice('link', LINKS), 'Why it continues its parent'),
  fork_of: optional(forkOrigin, 'Begin at a past turn of another session, in a chain of its own'),
  resume: flag('Open an ended session again under its own id'),
}

export function lineageOf(given: Values<typeof LINEAGE>): StartOptions {
  if (given.link !== undefined && given.parent === undefined) {
    throw usageError('--link needs --parent', 'Name the session it continues')
  }
  return {
    ...present({ parent_id: given.parent, link: given.link, forked_from: given.fork_of }),
    ...(given.resume ? { resume: true } : {}),
  }
}
