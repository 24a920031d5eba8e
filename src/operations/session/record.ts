import type { Home } from '../../home/index.js'
import { OUTCOMES } from '../../model/index.js'
import { flag, optional, repeated, required } from '../field.js'
import { choice, freeText, sessionRef, text, when } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'
import { usageError } from '../usage-error.js'
import { readerMeant } from '../work/agent-meant.js'
import { FACTS, factsOf, LINEAGE, lineageOf, START, startOf } from './facts.js'

const SESSION = required(sessionRef, 'Id, or a unique beginning of it')

export const sessionStart = operation({
  name: 'session.start',
  does: 'acts',
  where: 'either',
  summary: 'Record that a session started',
  input: { ...START, ...LINEAGE },
  result: 'session',
  async run(given, { home }) {
    if (given.resume && given.id === undefined)
      throw usageError('--resume needs --id', 'Name the session to open again')
    const options = { ...startOf(given), ...lineageOf(given) }
    const opened = await home()
    return opened.sessions.start({ ...options, ...(await agentOf(opened, given)) })
  },
})

export const sessionEnd = operation({
  name: 'session.end',
  does: 'acts',
  where: 'either',
  summary: 'Record that a session ended',
  input: {
    session: SESSION,
    outcome: required(choice('outcome', OUTCOMES), 'How it ended'),
    reason: optional(freeText('text'), 'Why, in words'),
    ended_at: optional(when, 'When it ended, if not now'),
  },
  result: 'session',
  run: async ({ session, outcome, reason, ended_at }, { home }) =>
    (await home()).sessions.end(session, { outcome, ...present({ reason, ended_at }) }),
})

export const sessionHandoff = operation({
  name: 'session.handoff',
  does: 'acts',
  where: 'either',
  summary: 'End a session and start the one that continues it',
  description:
    'Records it, for scripts: nothing is started or ended. To hand off a running agent, use "skein handoff". Prints only the id of the new session. Facts that are not given are taken from the previous one.',
  input: {
    session: SESSION,
    ...START,
    subject: optional(freeText('text'), 'What the handoff is about'),
    message: optional(freeText('text'), 'What the successor should know'),
  },
  result: 'session',
  async run({ session, subject, message, ...given }, { home }) {
    const opened = await home()
    const options = { ...startOf(given), ...(await agentOf(opened, given)), ...present({ subject, message }) }
    return opened.sessions.handoff(session, options)
  },
})

/** Named as in every command; a name that no agent has is an agent that Skein does not run. */
const agentOf = async (home: Home, { agent }: { agent?: string | undefined }): Promise<{ agent?: string }> =>
  agent === undefined ? {} : { agent: (await readerMeant(home, agent)).address }

export const sessionStep = operation({
  name: 'session.step',
  does: 'acts',
  where: 'either',
  summary: 'Record a step of the plan',
  input: {
    action: required(choice('action', ['start', 'complete']), 'What happened to the step'),
    step: required(text('step'), 'The step, as the plan names it'),
    session: SESSION,
    molecule: optional(text('id'), 'With start: the plan that the step belongs to'),
    failed: flag('With complete: it did not succeed'),
  },
  result: 'session',
  async run({ action, step, session, molecule, failed }, { home }) {
    if (action === 'start' && failed)
      throw usageError('--failed needs complete', 'A step that starts has not failed yet')
    if (action === 'complete' && molecule !== undefined)
      throw usageError('--molecule needs start', 'A completed step keeps the plan it was started with')
    return (await home()).sessions.step(session, {
      step_ref: step,
      ...(action === 'start' ? { state: 'started' } : { state: 'completed', success: !failed }),
      ...present({ molecule_id: molecule }),
    })
  },
})

export const sessionUpdate = operation({
  name: 'session.update',
  does: 'acts',
  where: 'either',
  summary: 'Add or correct facts about a session',
  input: { session: SESSION, ...FACTS, commit: repeated(text('hash'), 'A commit it made; earlier ones stay') },
  result: 'session',
  async run({ session, commit, ...given }, { home }) {
    const facts = { ...factsOf(given), ...(commit.length > 0 ? { commits: commit } : {}) }
    if (Object.keys(facts).length === 0)
      throw usageError(
        'Nothing to update',
        'Name what to change, for example --title. See: skein session update --help',
      )
    return (await home()).sessions.update(session, facts)
  },
})
