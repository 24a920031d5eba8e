import type { StartOptions } from '../../home/index.js'
import { type ForkOrigin, LINKS, parseSessionId } from '../../model/index.js'
import {
  agentRef,
  choice,
  flag,
  type Kind,
  optional,
  present,
  sessionRef,
  text,
  usageError,
  type Values,
  when,
} from '../../operations/index.js'
import { FACT_OPTIONS, factsOf } from './session-facts.js'

/** A session, or one of its turns: `<session>` or `<session>:<turn>`. */
const forkOrigin: Kind<ForkOrigin> = {
  placeholder: '<session[:turn]>',
  completes: 'session',
  parse: (given) => {
    const [, id = '', turn] = /^([^:]*)(?::(\d{1,9}))?$/.exec(given) ?? []
    if (id === '') throw usageError(`${JSON.stringify(given)} is not a session and turn`, 'Write it like 0f3c9a12:7')
    return { session: parseSessionId(id), ...(turn === undefined ? {} : { turn: Number(turn) }) }
  },
}

/** What a session that begins can be told. */
export const START_OPTIONS = {
  id: optional(text('id'), "The tool's own id of the session (default: a new id)"),
  agent: optional(agentRef, 'The agent that runs it'),
  ...FACT_OPTIONS,
  'started-at': optional(when, 'When it started, if not now'),
}

/** How a session that begins is tied to others. */
export const LINEAGE_OPTIONS = {
  parent: optional(sessionRef, 'The session it continues, in the same chain'),
  link: optional(choice('link', LINKS), 'Why it continues its parent'),
  'fork-of': optional(forkOrigin, 'Begin at a past turn of another session, in a chain of its own'),
  resume: flag('Open an ended session again under its own id'),
}

export function startOf(given: Values<typeof START_OPTIONS>): StartOptions {
  return {
    ...factsOf(given),
    ...present({ id: given.id, agent: given.agent, started_at: given['started-at'] }),
  }
}

export function lineageOf(given: Values<typeof LINEAGE_OPTIONS>): StartOptions {
  if (given.link !== undefined && given.parent === undefined) {
    throw usageError('--link needs --parent', 'Name the session it continues')
  }
  return {
    ...present({ parent_id: given.parent, link: given.link, forked_from: given['fork-of'] }),
    ...(given.resume ? { resume: true } : {}),
  }
}
