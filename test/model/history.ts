import fc from 'fast-check'
import {
  type AgentAddress,
  type Event,
  type EventId,
  type GroupPath,
  instantOf,
  LINKS,
  nextEventId,
  OUTCOMES,
  PRIORITIES,
  type SessionId,
  splitAddress,
  WORK_STATUSES,
} from '../../src/model/index.js'

const START_MS = Date.UTC(2026, 0, 17)

const session = fc.constantFrom('s1', 's2', 's3', 's4', 's5').map((id) => id as SessionId)
const agentId = fc.constantFrom('a1', 'a2', 'a3', 'a4')
const group = fc.constantFrom('ops', 'ops/night', 'web', 'web/ui', 'lab').map((path) => path as GroupPath)
const address = fc
  .tuple(fc.option(group, { nil: undefined }), fc.constantFrom('kim', 'lee', 'max'))
  .map(([path, name]) => (path ? `${path}/${name}` : name) as AgentAddress)
const time = fc.nat({ max: 10 * 86_400_000 }).map((offset) => instantOf(START_MS + offset))
const title = fc.option(fc.string({ unit: 'grapheme', maxLength: 12 }), { nil: undefined })

interface Sketch {
  type: string
  session?: SessionId
  agent?: AgentAddress
  payload: object
}

const started = fc
  .record({
    session,
    title,
    agent: fc.option(address, { nil: undefined }),
    agent_id: fc.option(agentId, { nil: undefined }),
    started_at: time,
    chain_id: session,
    parent_id: fc.option(session, { nil: undefined }),
    link: fc.option(fc.constantFrom(...LINKS), { nil: undefined }),
    forked_from: fc.option(fc.record({ session }), { nil: undefined }),
    tool: fc.option(fc.constantFrom('claude', 'codex'), { nil: undefined }),
    role: fc.option(fc.constantFrom('crew', 'polecat'), { nil: undefined }),
    work_unit: fc.option(fc.constantFrom('w-1', 'w-2'), { nil: undefined }),
  })
  .map(({ session: id, ...payload }): Sketch => ({ type: 'session_start', session: id, payload }))

const onSession = (type: string, payload: fc.Arbitrary<object>): fc.Arbitrary<Sketch> =>
  fc.tuple(session, payload).map(([id, body]) => ({ type, session: id, payload: body }))
const plain = (type: string, payload: fc.Arbitrary<object>): fc.Arbitrary<Sketch> =>
  payload.map((body) => ({ type, payload: body }))
const stepRef = fc.constantFrom('one', 'two')

const added = fc.tuple(agentId, address).map(([id, at]): Sketch => {
  const { group: path, name } = splitAddress(at)
  const times = { created_at: instantOf(START_MS), updated_at: instantOf(START_MS) }
  return {
    type: 'agent_added',
    payload: { agent: { id, address: at, title: name, group_path: path, tool: 'claude', ...times } },
  }
})

const times = { created_at: instantOf(START_MS), updated_at: instantOf(START_MS) }
const ofAgent = fc.oneof(
  fc.constant({}),
  fc.tuple(agentId, address).map(([agent_id, agent]) => ({ agent_id, agent })),
  address.map((agent) => ({ agent })),
)
const unit = fc
  .tuple(
    fc.record({
      id: fc.constantFrom('w-1', 'w-2', 'w-3'),
      title: fc.string({ maxLength: 5 }),
      status: fc.constantFrom(...WORK_STATUSES),
      priority: fc.constantFrom(...PRIORITIES),
      group: fc.option(group, { nil: undefined }),
    }),
    ofAgent,
  )
  .map(([facts, owner]) => ({ unit: { ...facts, ...owner, ...times, created_by: 'prop' } }))
const mail = fc
  .record({
    id: fc.constantFrom('m-1', 'm-2', 'm-3'),
    to: address,
    to_agent_id: fc.option(agentId, { nil: undefined }),
    priority: fc.constantFrom(...PRIORITIES),
    read_at: fc.option(time, { nil: undefined }),
    is_hooked: fc.option(fc.boolean(), { nil: undefined }),
    sent_at: time,
  })
  .map((facts) => ({ mail: { ...facts, from: 'x', subject: 's', body: 'b', kind: 'message', thread_id: facts.id } }))
const forgotten = fc
  .array(fc.record({ kind: fc.constantFrom('work', 'mail'), id: fc.constantFrom('w-1', 'w-2', 'm-1') }), {
    maxLength: 2,
  })
  .map((items) => ({ items }))

const sketch: fc.Arbitrary<Sketch> = fc.oneof(
  { weight: 6, arbitrary: started },
  {
    weight: 4,
    arbitrary: onSession('session_end', fc.record({ outcome: fc.constantFrom(...OUTCOMES), ended_at: time })),
  },
  onSession('session_resumed', fc.record({ resumed_at: time })),
  onSession(
    'session_update',
    fc.record({ title, commits: fc.array(fc.constantFrom('c1', 'c2', 'c3'), { maxLength: 3 }) }),
  ),
  onSession('session_step_started', fc.record({ step_ref: stepRef, started_at: time })),
  onSession('session_step_completed', fc.record({ step_ref: stepRef, completed_at: time, success: fc.boolean() })),
  onSession(
    'session_turn_marked',
    fc.record(
      {
        turn: fc.integer({ min: 1, max: 3 }),
        note: fc.constantFrom('', 'good', 'bad'),
        pinned: fc.boolean(),
        at: time,
      },
      { requiredKeys: ['turn', 'at'] },
    ),
  ),
  onSession('mail', fc.record({ subject: fc.string() })),
  { weight: 4, arbitrary: added },
  plain('agent_renamed', fc.record({ agent_id: agentId, from: address, to: address })),
  plain('agent_moved', fc.record({ agent_id: agentId, from: address, to: address })),
  plain('agent_removed', fc.record({ agent_id: agentId, address })),
  plain('agent_parent_set', fc.record({ agent_id: agentId, parent_id: fc.option(agentId, { nil: undefined }) })),
  plain('agent_updated', fc.record({ agent_id: agentId, title })),
  plain('group_created', fc.record({ path: group })),
  plain(
    'group_updated',
    fc.record(
      { path: group, name: fc.constantFrom('Ops', 'Web apps'), expanded: fc.boolean(), order: fc.nat(5) },
      { requiredKeys: ['path'] },
    ),
  ),
  plain('group_renamed', fc.record({ from: group, to: group })),
  plain('group_deleted', fc.record({ path: group, move_to: fc.option(group, { nil: undefined }) })),
  { weight: 3, arbitrary: plain('work_changed', unit) },
  { weight: 3, arbitrary: plain('mail_changed', mail) },
  plain('work_forgotten', forgotten),
  plain('no_such_type_yet', fc.record({ anything: fc.anything().filter((value) => value !== undefined) })),
)

/** Any sequence of well-formed events, sensible or not, as it would be read back from a journal. */
export const anyHistory = (maxLength = 40): fc.Arbitrary<Event[]> =>
  fc.array(fc.tuple(sketch, fc.nat({ max: 3_600_000 })), { maxLength, size: 'max' }).map((entries) => {
    let last: EventId | undefined
    let ms = START_MS
    return entries.map(([{ type, session: id, agent, payload }, gap]) => {
      ms += gap
      last = nextEventId(last, ms, new Uint8Array(10).fill(7))
      const event = {
        id: last,
        ts: instantOf(ms),
        type,
        actor: 'prop',
        session: id,
        agent,
        payload,
        visibility: 'both',
        host: 'here',
      }
      return JSON.parse(
        JSON.stringify(event, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
      ) as Event
    })
  })
