import type { InputOf, OperationName } from '../../src/operations/index.js'

/** One operation as each face is asked for it. */
export interface Step<Name extends OperationName = OperationName> {
  readonly operation: Name
  /** What is typed. */
  readonly words: readonly string[]
  /** What is sent. */
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
  // History
  step('cost', 'cost --by model', { by: 'model' }),
  step('cost', 'cost --since 1h --until 2h', { since: '1h', until: '2h' }, { fails: 'usage' }),
  // Agents
  step('list', 'list --rig kitchen', { rig: 'kitchen' }),
  step('list', 'list --rig //', { rig: '//' }, { fails: 'bad-address' }),
  step('agents.list', 'agents list --group web', { group: 'web', all: true }),
  step('agents.list', 'agents list --group //', { group: '//', all: true }, { fails: 'bad-address' }),
  step(
    'agents.send',
    ['send', 'web/demo', 'look at the tests'],
    { agent: 'web/demo', text: 'look at the tests' },
    { before: [['start', '.', '--agent', 'web/demo', '--tool', 'demo']] },
  ),
  step('agents.send', ['send', 'web/jam', 'x'], { agent: 'web/jam', text: 'x' }, { fails: 'agent-not-running' }),
  step('agents.answer', 'answer web/jam Yes', { agent: 'web/jam', choose: 'Yes' }, { fails: 'agent-not-running' }),
  step(
    'agents.answer',
    'approve web/asker',
    { agent: 'web/asker', decision: 'allow' },
    { before: [['start', '.', '--agent', 'web/asker', '--tool', 'demo', '--arg=--dialog']] },
  ),
]
