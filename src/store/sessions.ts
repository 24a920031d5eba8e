// Just over 400 lines: every change of a session is decided here, beside the questions about them.
import type { FoldedSession, SessionPage, SessionQuery } from '../index/index.js'
import {
  type AgentAddress,
  type AgentId,
  DAY_MS,
  type ForkOrigin,
  type Instant,
  instantIfAny,
  isActive,
  isSessionId,
  LINKS,
  type Link,
  laterOf,
  OUTCOMES,
  type Outcome,
  parseAddress,
  parseSessionId,
  type Session,
  type SessionFacts,
  type SessionId,
  SkeinError,
  splitAddress,
} from '../model/index.js'
import { type AgentLookup, addressMeant, currentSession, lookupIn } from './agent-lookup.js'
import { spellingsOf } from './directory-filter.js'
import { FoundLinks } from './found-links.js'
import { keptWords, withoutSecrets } from './kept-words.js'
import { answered } from './lookup.js'
import { withMoments } from './moments.js'
import type { ProfileStore } from './profile-store.js'
import type {
  Chain,
  SessionFilter,
  Sessions,
  SessionTree,
  StartOptions,
  StepOptions,
  TurnMarking,
} from './session-api.js'
import { ARCHIVE_AFTER_DAYS } from './session-archive.js'
import { alreadyEnded, illegal, sessionExists } from './session-errors.js'
import { chainsMeant, findSession, listOfAgent, treeAround } from './session-lookup.js'
import { withValues } from './with-values.js'
import type { ChangeState, Draft } from './write-batch.js'

const ARCHIVE_BATCH = 500
/** A note is a few sentences; longer texts belong into files. */
const MOST_NOTE = 2_000

export class StoredSessions implements Sessions {
  readonly #lookup: AgentLookup

  constructor(
    private readonly store: ProfileStore,
    cwd?: () => string,
  ) {
    this.#lookup = lookupIn(store.paths, cwd)
  }

  async start(given: StartOptions): Promise<Session> {
    const options = await withoutSecrets(given, this.store.paths)
    const id = parseSessionId(options.id ?? this.store.context.random.uuid())
    return this.store.change((state) => {
      const known = state.session(id)
      if (options.resume) return { events: resumed(known, id, state), result: () => mustExist(state, id) }
      if (known && !options.mayExist) throw sessionExists(known)
      const predecessor = options.parent_id === undefined ? undefined : resolve(state, options.parent_id)
      const inherited = predecessor ? inheritedFacts(predecessor, options.link) : {}
      const draft = startDraft(id, { ...inherited, ...withValues(options) }, state)
      return {
        events: [
          draft,
          ...(known && predecessor ? joined(known, predecessor, draft, state) : []),
          ...(known && !known.forked_from ? forkedLate(known, draft) : []),
        ],
        result: () => mustExist(state, id),
      }
    })
  }

  async end(reference: string, options: { outcome: Outcome; reason?: string; ended_at?: Instant }): Promise<Session> {
    if (!OUTCOMES.includes(options.outcome)) {
      throw new SkeinError('bad-input', `"${options.outcome}" is not an outcome`, `Use one of ${OUTCOMES.join(', ')}`)
    }
    const { reason } = await withoutSecrets(options, this.store.paths)
    return this.store.change((state) => {
      const session = resolve(state, reference)
      if (!isActive(session)) throw alreadyEnded(session)
      const { outcome, ended_at = state.now } = options
      const draft: Draft = {
        type: 'session_end',
        session: session.id,
        agent: session.agent,
        payload: { outcome, ended_at: laterOf(ended_at, session.started_at), reason },
      }
      return { events: [draft], result: () => mustExist(state, session.id) }
    })
  }

  async handoff(reference: string, given: StartOptions & { subject?: string; message?: string }): Promise<Session> {
    const options = await withoutSecrets(given, this.store.paths)
    const successor = parseSessionId(options.id ?? this.store.context.random.uuid())
    return this.store.change((state) => {
      const predecessor = resolve(state, reference)
      if (!isActive(predecessor)) throw alreadyEnded(predecessor)
      if (state.session(successor)) throw sessionExists(mustExist(state, successor))
      const { subject, message, ...start } = options
      const inherited = inheritedFacts(predecessor, start.link)
      // The start carries the whole effect, so that no crash can leave half a handoff; the second event tells the story.
      const events: Draft[] = [
        startDraft(
          successor,
          { ...inherited, ...withValues(start), parent_id: predecessor.id, link: start.link ?? 'handoff' },
          state,
        ),
        {
          type: 'handoff',
          session: predecessor.id,
          agent: predecessor.agent,
          payload: { child_id: successor, subject, message },
        },
      ]
      return { events, result: () => mustExist(state, successor) }
    })
  }

  async update(reference: string, told: Omit<SessionFacts, 'agent' | 'agent_id'>): Promise<Session> {
    const facts = await withoutSecrets(told, this.store.paths)
    return this.store.change((state) => {
      const session = resolve(state, reference)
      const events: Draft[] = [
        { type: 'session_update', session: session.id, agent: session.agent, payload: factsOf(facts) },
      ]
      return { events, result: () => mustExist(state, session.id) }
    })
  }

  async step(
    reference: string,
    { step_ref: named, molecule_id, state: phase, success = true }: StepOptions,
  ): Promise<Session> {
    if (named === undefined ? phase === 'started' : named.trim() === '')
      throw new SkeinError(
        'bad-input',
        'A step needs a reference',
        'Name it, like: skein session step start build.2 <session>',
      )
    return this.store.change((state) => {
      const session = resolve(state, reference)
      if (!isActive(session)) throw alreadyEnded(session)
      const open = (session.steps ?? []).flatMap((step) => (step.completed_at === undefined ? [step.step_ref] : []))
      const step_ref = named ?? onlyStep(session, open)
      const isOpen = open.includes(step_ref)
      if (phase === 'started' && isOpen)
        throw illegal(session, `already works on step ${step_ref}`, 'Complete it first')
      if (phase === 'completed' && !isOpen) throw illegal(session, `has no open step ${step_ref}`, 'Start it first')
      const draft: Draft =
        phase === 'started'
          ? { type: 'session_step_started', payload: { step_ref, molecule_id, started_at: state.now } }
          : { type: 'session_step_completed', payload: { step_ref, completed_at: state.now, success } }
      return {
        events: [{ ...draft, session: session.id, agent: session.agent }],
        result: () => mustExist(state, session.id),
      }
    })
  }

  async markTurn(reference: string, turn: number, { note, pinned }: TurnMarking): Promise<Session> {
    if (!Number.isSafeInteger(turn) || turn < 1)
      throw new SkeinError('bad-input', `${turn} is not a turn`, 'Turns count from 1')
    if (note !== undefined && note.length > MOST_NOTE)
      throw new SkeinError('bad-input', `The note has ${note.length} characters`, `Use at most ${MOST_NOTE}`)
    const kept = note === undefined ? {} : await keptWords({ note: note.trim() }, this.store.paths)
    return this.store.change((state) => {
      const session = resolve(state, reference)
      const payload = { turn, ...kept, ...(pinned === undefined ? {} : { pinned }), at: state.now }
      const events: Draft[] = [{ type: 'session_turn_marked', session: session.id, agent: session.agent, payload }]
      return { events, result: () => mustExist(state, session.id) }
    })
  }

  async get(id: string): Promise<Session | undefined> {
    return isSessionId(id) ? this.store.ask((index) => index.get(id)) : undefined
  }

  async find(reference: string): Promise<Session> {
    return this.store.ask((index) => answered(findSession(reference, this.#lookup), index))
  }

  async shortIds(ids: readonly string[]): Promise<Map<string, string>> {
    return this.store.ask((index) => index.shortIds(ids))
  }

  /** By its own id alone: for what cannot be undone. */
  async findById(reference: string): Promise<Session> {
    return this.store.ask((index) => answered(findSession(reference), index))
  }

  /** The address of the agent that is meant; what names none is left as it is, for agents that were removed. */
  /** The session an agent is in, or was in last; none for what is no agent. */
  async currentOf({ id, address }: { id?: AgentId; address: AgentAddress }): Promise<SessionId | undefined> {
    if (id === undefined) return undefined
    return this.store.ask((index) => answered(currentSession({ id, address }, this.#lookup), index))
  }

  async addressMeant(reference: string): Promise<string> {
    return this.store.ask((index) => answered(addressMeant(reference, this.#lookup), index))
  }

  async query(filter: SessionFilter): Promise<SessionPage> {
    const { directory, ...rest } = withMoments(filter, this.store.context.clock.now())
    const query: SessionQuery = {
      ...rest,
      ...(directory === undefined ? {} : { directories: spellingsOf(directory) }),
      ...(rest.chain_id === undefined ? {} : { chain_id: await this.#chainMeant(rest.chain_id) }),
    }
    const { agent } = query
    if (agent === undefined) return this.store.ask((index) => index.list(query))
    return this.store.ask((index) => answered(listOfAgent(query, agent, this.#lookup), index))
  }

  /** The chain of the session that is meant; what names none is left as it is, for chains whose first session is gone. */
  async #chainMeant(reference: string): Promise<string> {
    try {
      return (await this.find(reference)).chain_id
    } catch (error) {
      if (error instanceof SkeinError && error.code === 'session-not-found') return reference
      throw error
    }
  }

  async chain(reference: string): Promise<Chain[]> {
    const nowMs = this.store.context.clock.now()
    return this.store.ask((index) => answered(chainsMeant(reference, this.#lookup, nowMs), index))
  }

  async tree(reference: string): Promise<SessionTree> {
    return this.store.ask((index) => answered(treeAround(reference, this.#lookup), index))
  }

  async archive({
    olderThanDays = ARCHIVE_AFTER_DAYS,
  }: {
    olderThanDays?: number
  } = {}): Promise<{ archived: number }> {
    const before = instantIfAny(this.store.context.clock.now() - olderThanDays * DAY_MS)
    if (before === undefined) return { archived: 0 } // nothing is as old as that
    const { records, archive } = this.store
    const isOld = ({ session }: FoldedSession): boolean => session.ended_at !== undefined && session.ended_at < before
    // Only plain files can be packed, so only those are looked at, not every session there ever was.
    const ids = records.ids()
    let archived = 0
    for (let at = 0; at < ids.length; at += ARCHIVE_BATCH) {
      archived += await this.store.asWriter((index) => {
        const some = ids.slice(at, at + ARCHIVE_BATCH).filter((id) => records.exists(id) && !records.isNewer(id))
        const old = some.flatMap((id) => index.read(id) ?? []).filter(isOld)
        if (old.length === 0) return 0
        archive.add(old)
        records.remove(old.map(({ session }) => session.id))
        for (const folded of old) index.markSaved(folded)
        return old.length
      })
    }
    return { archived }
  }
}

// --- starting -------------------------------------------------------------------------------------------------------

function startDraft(id: SessionId, options: StartOptions, state: ChangeState): Draft {
  const started_at = options.started_at ?? state.now
  const payload = { ...factsOf(options), ...agentFacts(options, state), started_at, ...lineage(id, options, state) }
  return { type: 'session_start', session: id, agent: payload.agent, payload }
}

/** A session that was found in a log before anyone said which one it continues: its start does not move it. */
function joined(known: Session, predecessor: Session, { payload }: Draft, state: ChangeState): Draft[] {
  const { link = 'handoff' } = payload as { link?: Link }
  const links = new FoundLinks(state, [
    { predecessor: predecessor.id, successor: known.id, link, at: known.started_at },
  ])
  const place = links.placeOf(known.id)
  return place ? links.join(known, place) : []
}

/** A session that was known before anyone said what it was forked from: its start does not say so any more. */
function forkedLate({ id, agent }: Session, { payload }: Draft): Draft[] {
  const { forked_from } = payload as { forked_from?: ForkOrigin }
  return forked_from ? [{ type: 'session_update', session: id, agent, payload: { forked_from } }] : []
}

function agentFacts(
  options: StartOptions,
  state: ChangeState,
): Pick<SessionFacts, 'agent' | 'agent_id' | 'rig' | 'role' | 'tool'> {
  if (options.agent === undefined) return {}
  const address = parseAddress(options.agent)
  const agent = state.roster.at(address)
  const { group } = splitAddress(address)
  const { tool = agent?.tool, role = agent?.role, rig = group?.split('/')[0] } = options
  return { agent: address, ...withValues({ agent_id: agent?.id, tool, role, rig }) }
}

interface Lineage {
  chain_id: SessionId
  parent_id?: SessionId
  link?: Link
  forked_from?: NonNullable<Session['forked_from']>
}

/** A first session begins a chain, a continuation inherits it, a fork begins one of its own. */
function lineage(id: SessionId, options: StartOptions, state: ChangeState): Lineage {
  if (options.forked_from) {
    if (options.parent_id)
      throw new SkeinError('bad-input', 'A session cannot both fork and continue another', 'Use only one of them')
    const origin = resolve(state, options.forked_from.session)
    const { turn } = options.forked_from
    if (turn !== undefined && (!Number.isInteger(turn) || turn < 1)) {
      throw new SkeinError('bad-input', `${turn} is not a turn`, 'Turns count from 1')
    }
    return { chain_id: id, forked_from: { session: origin.id, ...(turn === undefined ? {} : { turn }) } }
  }
  if (!options.parent_id) return { chain_id: id }
  const predecessor = resolve(state, options.parent_id)
  if (predecessor.child_id) {
    throw illegal(
      predecessor,
      `is already continued by ${predecessor.child_id}`,
      `Fork it instead: skein session start --fork-of ${predecessor.id}`,
    )
  }
  const link = options.link ?? linkAfter(predecessor.outcome)
  if (!LINKS.includes(link))
    throw new SkeinError('bad-input', `"${link}" is not a link`, `Use one of ${LINKS.join(', ')}`)
  return { chain_id: predecessor.chain_id, parent_id: predecessor.id, link }
}

/** A session that starts behind one that crashed is its respawn, unless the caller says otherwise. */
function linkAfter(outcome: Outcome | undefined): Link {
  if (outcome === 'crash' || outcome === 'killed' || outcome === 'lost') return 'crash'
  return outcome === 'clear' ? 'clear' : 'handoff'
}

function resumed(known: Session | undefined, id: SessionId, state: ChangeState): Draft[] {
  if (!known) throw new SkeinError('session-not-found', `No session ${id} to resume`, 'Start it without --resume')
  if (isActive(known)) throw illegal(known, 'is still active', 'Fork it, or end it first')
  if (known.child_id) throw illegal(known, `is continued by ${known.child_id}`, `Resume that one, or fork this one`)
  return [{ type: 'session_resumed', session: id, agent: known.agent, payload: { resumed_at: state.now } }]
}

/** By default a successor works on the same thing in the same place. */
/** A cleared conversation is about something else: its first prompt names it. */
function inheritedFacts(predecessor: Session, link?: Link): StartOptions {
  const { agent, tool, title, tmux_session, role, rig, work_unit, molecule_id, step_ref, cwd, branch, model } =
    predecessor
  return withValues({
    agent,
    tool,
    title: link === 'clear' ? undefined : title,
    tmux_session,
    role,
    rig,
    work_unit,
    molecule_id,
    step_ref,
    cwd,
    branch,
    model,
  })
}

function factsOf(facts: Omit<SessionFacts, 'agent' | 'agent_id'>): Partial<SessionFacts> {
  const { tool, title, tmux_session, rig, role, work_unit, molecule_id, step_ref, cwd, branch, model, commits } = facts
  const { topic, sender } = facts
  return withValues({
    source: facts.source,
    tool,
    title,
    tmux_session,
    rig,
    role,
    topic,
    sender,
    work_unit,
    molecule_id,
    step_ref,
    cwd,
    branch,
    model,
    commits,
  })
}

/** The step that is meant when none is named. */
function onlyStep(session: Session, open: readonly string[]): string {
  const [only, ...more] = open
  if (only === undefined) throw illegal(session, 'has no open step', 'Begin one with: skein step start <step>')
  if (more.length === 0) return only
  throw illegal(session, `has ${open.length} open steps: ${open.join(', ')}`, 'Name the one that is done')
}

function resolve(state: ChangeState, reference: string): Session {
  const exact = isSessionId(reference) ? state.session(reference) : undefined
  return exact ?? mustExist(state, answered(findSession(reference), state.index).id)
}

function mustExist(state: ChangeState, id: SessionId): Session {
  const session = state.session(id)
  if (!session) throw new Error(`session ${id} vanished while it was changed`)
  return session
}
