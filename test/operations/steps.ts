import type { InputOf, OperationName } from '../../src/operations/index.js'

/** One operation as each face is asked for it. */
export interface Step<Name extends OperationName = OperationName> {
  readonly operation: Name
  /** What is typed. */
  readonly words: readonly string[]
  /** What is sent; `<root>` in it is the directory of the world. */
  readonly input: Readonly<Record<string, unknown>>
  /** Commands that are typed before, in every world. */
  readonly before?: readonly (readonly string[])[]
  /** The error that is expected, by its code. */
  readonly fails?: string
  /** What the command prints of the result, where that is not all of it. */
  readonly printed?: (result: unknown) => unknown
}

function step<Name extends OperationName>(
  operation: Name,
  line: string | readonly string[],
  input: InputOf<Name>,
  more: Omit<Step, 'operation' | 'words' | 'input'> = {},
): Step {
  return { operation, words: typeof line === 'string' ? line.split(' ') : line, input, ...more }
}

/** The spellings `skein agents ...` print the agent alone. */
const agentOf = (result: unknown): unknown => (result as { agent: unknown }).agent

/** One document per line. */
const eventsOf = (result: unknown): unknown => (result as { events: unknown }).events

/** In this order, in every world: each operation with an answer, and with an error where it can have one. */
export const STEPS: readonly Step[] = [
  // Sessions
  step('sessions.list', 'sessions list --limit 3', { limit: 3 }),
  step('sessions.list', 'sessions list --outcome lots', { outcome: 'lots' as 'done' }, { fails: 'usage' }),
  step('sessions.list', 'sessions list --since 2h --rig web --all', { since: '2h', rig: 'web', all: true }),
  step('sessions.find', 'sessions find login', { text: 'login' }),
  step('sessions.find', 'sessions find --since eventually', { since: 'eventually' }, { fails: 'bad-time' }),
  step('sessions.show', 'sessions show 22222222', { session: '22222222' }),
  step('sessions.show', 'sessions show nothing', { session: 'nothing' }, { fails: 'session-not-found' }),
  step('sessions.chain', 'sessions chain wk-42', { reference: 'wk-42' }),
  step('sessions.chain', 'sessions chain nothing', { reference: 'nothing' }, { fails: 'session-not-found' }),
  step('sessions.tree', 'sessions tree 0f3c9a12', { session: '0f3c9a12' }),
  step('sessions.tree', 'sessions tree nothing', { session: 'nothing' }, { fails: 'session-not-found' }),
  // Groups
  step('group.list', 'group list', {}),
  step('group.create', 'group create web/mobile', { path: 'web/mobile' }),
  step('group.create', 'group create web/mobile', { path: 'web/mobile' }, { fails: 'group-exists' }),
  step('group.rename', 'group rename web/mobile phone', { group: 'web/mobile', to: 'phone' }),
  step(
    'group.rename',
    'group rename web/mobile phone',
    { group: 'web/mobile', to: 'phone' },
    { fails: 'group-not-found' },
  ),
  step('group.delete', 'group delete web/phone', { group: 'web/phone' }),
  step('group.delete', 'group delete web', { group: 'web' }, { fails: 'group-not-empty' }),
  // Events
  step('events.tail', 'events tail -n 3', { lines: 3 }, { printed: eventsOf }),
  step('events.tail', 'events tail --session nothing', { session: 'nothing' }, { fails: 'session-not-found' }),
  step('events.feed', 'events feed --agent web/toast', { agent: 'web/toast' }),
  step('events.feed', 'events feed -n 0', { lines: 0 }, { fails: 'usage' }),
  step('events.stats', 'events stats', {}),
  step('events.decay', 'events decay', {}),
  step('events.prune', 'events prune --dry-run', { dry_run: true }),
  step('events.config', 'events config set patrol_* 12h', { action: 'set', pattern: 'patrol_*', ttl: '12h' }),
  step('events.config', 'events config set patrol_*', { action: 'set', pattern: 'patrol_*' }, { fails: 'usage' }),
  step('events.append', ['events', 'append', 'mail', '--payload', '{"subject":"hello"}'], {
    type: 'mail',
    payload: { subject: 'hello' },
  }),
  step('events.append', 'events append session_start', { type: 'session_start' }, { fails: 'bad-input' }),
  // History
  step('cost', 'cost --by model', { by: 'model' }),
  step('cost', 'cost --since 1h --until 2h', { since: '1h', until: '2h' }, { fails: 'usage' }),
  // Agents
  step('list', 'list --rig kitchen', { rig: 'kitchen' }),
  step('list', 'list --rig //', { rig: '//' }, { fails: 'bad-address' }),
  step('agents.list', 'agents list --group web', { group: 'web', all: true }),
  step('agents.list', 'agents list --group //', { group: '//', all: true }, { fails: 'bad-address' }),
  step('agents.status', 'status', {}),
  step('agents.status', 'status --group //', { group: '//' }, { fails: 'bad-address' }),
  step('agents.next', 'next', {}),
  step('agents.show', 'agents show web/toast', { agent: 'web/toast' }),
  step('agents.show', 'agents show nobody', { agent: 'nobody' }, { fails: 'agent-not-found' }),
  step('agents.why', 'why kitchen/knife', { agent: 'kitchen/knife' }),
  step('agents.why', 'why nobody', { agent: 'nobody' }, { fails: 'agent-not-found' }),
  step('agents.add', 'agents add web/honey --tool claude --mcp files', {
    address: 'web/honey',
    tool: 'claude',
    mcp: ['files'],
  }),
  step('agents.add', 'agents add web/toast --tool pi', { address: 'web/toast', tool: 'pi' }, { fails: 'agent-exists' }),
  step('agents.set', 'agents set web/toast --title Bread', { agent: 'web/toast', title: 'Bread' }),
  step('agents.set', 'agents set web/toast', { agent: 'web/toast' }, { fails: 'usage' }),
  step('agents.set-parent', 'agents set-parent web/butter --none', { agent: 'web/butter' }),
  step(
    'agents.set-parent',
    'agents set-parent web/butter nobody',
    { agent: 'web/butter', parent: 'nobody' },
    { fails: 'agent-not-found' },
  ),
  step('agents.spawn', 'spawn . --agent lab/baker --tool demo --env A=b=c --arg=-x', {
    cwd: '<root>',
    agent: 'lab/baker',
    tool: 'demo',
    env: ['A=b=c'],
    arg: ['-x'],
  }),
  step('agents.spawn', 'spawn . --tool nothing', { cwd: '<root>', tool: 'nothing' }, { fails: 'tool-unknown' }),
  step('agents.rename', 'rename web/honey mead', { agent: 'web/honey', name: 'mead' }),
  step('agents.rename', 'rename web/honey mead', { agent: 'web/honey', name: 'mead' }, { fails: 'agent-not-found' }),
  step('agents.rename', 'agents rename web/mead honey', { agent: 'web/mead', name: 'honey' }, { printed: agentOf }),
  step('agents.move', 'move web/honey ops', { agent: 'web/honey', group: 'ops' }),
  step('agents.move', 'move ops/honey //', { agent: 'ops/honey', group: '//' }, { fails: 'bad-address' }),
  step('agents.move', 'agents move ops/honey --top', { agent: 'ops/honey' }, { printed: agentOf }),
  step('agents.archive', 'archive honey', { agent: 'honey' }),
  step('agents.archive', 'archive nobody', { agent: 'nobody' }, { fails: 'agent-not-found' }),
  step('agents.unarchive', 'unarchive honey', { agent: 'honey' }),
  step('agents.unarchive', 'unarchive nobody', { agent: 'nobody' }, { fails: 'agent-not-found' }),
  step('agents.remove', 'remove honey', { agent: 'honey' }),
  step('agents.remove', 'remove honey', { agent: 'honey' }, { fails: 'agent-not-found' }),
  step('agents.remove', 'remove --undo', { undo: true }),
  step('agents.remove', 'agents remove honey', { agent: 'honey' }, { printed: agentOf }),
  // Running agents
  step(
    'agents.send',
    ['send', 'web/demo', 'look at the tests'],
    { agent: 'web/demo', text: 'look at the tests' },
    { before: [['start', '.', '--agent', 'web/demo', '--tool', 'demo']] },
  ),
  step('agents.send', ['send', 'web/jam', 'x'], { agent: 'web/jam', text: 'x' }, { fails: 'agent-not-running' }),
  step('agents.wait', 'wait web/demo --until idle --timeout 1m', {
    agents: ['web/demo'],
    until: 'idle',
    timeout: 60_000,
  }),
  step('agents.wait', 'wait nobody', { agents: ['nobody'] }, { fails: 'agent-not-found' }),
  step('agents.ack', 'ack web/demo', { agents: ['web/demo'] }),
  step('agents.ack', 'ack --all', { all: true }),
  step('agents.ack', 'ack', {}, { fails: 'usage' }),
  step('agents.output', 'output web/demo --screen', { agent: 'web/demo', screen: true }),
  step('agents.output', 'output web/jam --screen', { agent: 'web/jam', screen: true }, { fails: 'agent-not-running' }),
  step('agents.attach', 'attach web/demo --print', { agent: 'web/demo' }),
  step('agents.attach', 'attach web/jam --print', { agent: 'web/jam' }, { fails: 'agent-not-running' }),
  step('agents.record', 'doctor --record web/demo', { agent: 'web/demo' }),
  step('agents.record', 'doctor --record web/jam', { agent: 'web/jam' }, { fails: 'agent-not-running' }),
  step('agents.keys', 'keys web/demo Escape', { agent: 'web/demo', keys: ['Escape'] }),
  step('agents.keys', 'keys web/demo', { agent: 'web/demo' }, { fails: 'usage' }),
  step(
    'agents.report',
    ['report', 'web/demo', '--state', 'waiting', '--waiting-for', 'finished', '--reason', 'all done'],
    {
      agent: 'web/demo',
      state: 'waiting',
      waiting_for: 'finished',
      reason: 'all done',
    },
  ),
  step(
    'agents.report',
    'report web/demo --state glad',
    { agent: 'web/demo', state: 'glad' as 'idle' },
    { fails: 'usage' },
  ),
  step('agents.snooze', 'snooze web/demo 30m', { agent: 'web/demo', until: '30m' }),
  step('agents.snooze', 'snooze web/demo later', { agent: 'web/demo', until: 'later' }, { fails: 'usage' }),
  step('agents.answer', 'answer web/jam Yes', { agent: 'web/jam', choose: 'Yes' }, { fails: 'agent-not-running' }),
  step(
    'agents.answer',
    'approve web/asker',
    { agent: 'web/asker', decision: 'allow' },
    { before: [['start', '.', '--agent', 'web/asker', '--tool', 'demo', '--arg=--dialog']] },
  ),
  step('agents.stop', 'stop web/demo', { agents: ['web/demo'] }),
  step('agents.stop', 'stop web/demo nobody', { agents: ['web/demo', 'nobody'] }, { fails: 'agent-not-found' }),
  step('agents.kill', 'kill --group web', { group: 'web' }),
  step('agents.kill', 'kill web', { agents: ['web'] }, { fails: 'agent-not-found' }),
]
