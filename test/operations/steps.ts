import type { InputOf, OperationName } from '../../src/operations/index.js'

/** One operation as each face is asked for it. */
export interface Step<Name extends OperationName = OperationName> {
  readonly operation: Name
  /** What is typed. */
  readonly words: readonly string[]
  /** What is sent; `<root>` in it is the directory of the world, `<pane>` its recorded screen. */
  readonly input: Readonly<Record<string, unknown>>
  /** Commands that are typed before, in every world. */
  readonly before?: readonly (readonly string[])[]
  /** A file of the world that holds this text during the step, and then what it held before. */
  readonly broken?: { readonly file: string; readonly text: string }
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

const ADA = 'agent:main:discord:dm:ada'

/** For operations that no input makes fail: settings or a policy that nobody can read. */
const settings = { broken: { file: 'config.toml', text: '[archive\n' }, fails: 'bad-config' } as const
const roles = { broken: { file: 'config.toml', text: '[roles\n' }, fails: 'bad-config' } as const
const policy = { broken: { file: 'privacy.yaml', text: 'tool_privacy: [' }, fails: 'bad-config' } as const

/** They take no input and read no settings; what is damaged is in their result. */
export const WITHOUT_ERROR: readonly OperationName[] = ['group.list', 'archive.verify', 'index.check', 'profile.list']

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
  step('group.set', 'group set web --name Web --order 0', { group: 'web', name: 'Web', order: 0 }),
  step('group.set', 'group set web --folded', { group: 'web', folded: true }),
  step('group.set', 'group set web --expanded', { group: 'web', expanded: true }),
  step('group.set', 'group set nowhere --folded', { group: 'nowhere', folded: true }, { fails: 'group-not-found' }),
  step('group.park', 'group park web/phone --reason freeze', { group: 'web/phone', reason: 'freeze' }),
  step('group.park', 'group park nowhere', { group: 'nowhere' }, { fails: 'group-not-found' }),
  step('sling', 'sling w-42 web/phone', { work: 'w-42', group: 'web/phone' }, { fails: 'group-parked' }),
  step('group.unpark', 'group unpark web/phone', { group: 'web/phone' }),
  step('group.unpark', 'group unpark nowhere', { group: 'nowhere' }, { fails: 'group-not-found' }),
  step('group.delete', 'group delete web/phone', { group: 'web/phone' }),
  step('group.delete', 'group delete web', { group: 'web' }, { fails: 'group-not-empty' }),
  // Work and mail
  step('work.list', 'work list', {}),
  step('work.list', 'work list --status lost', { status: ['lost' as 'open'] }, { fails: 'usage' }),
  step('work.add', ['work', 'add', 'Paint it', '--priority', '0', '--agent', 'web/toast'], {
    title: 'Paint it',
    priority: '0',
    agent: 'web/toast',
  }),
  step('work.add', 'work add x --agent nobody', { title: 'x', agent: 'nobody' }, { fails: 'agent-not-found' }),
  step('work.show', 'work show w-42', { work: 'w-42' }),
  step('work.show', 'work show w-0', { work: 'w-0' }, { fails: 'work-not-found' }),
  step('work.hook', 'work hook w-42 web/jam', { work: 'w-42', agent: 'web/jam' }),
  step('work.hook', 'work hook w-42 web/toast', { work: 'w-42', agent: 'web/toast' }, { fails: 'work-taken' }),
  step('work.block', 'work block w-42 --reason key', { work: 'w-42', reason: 'key' }),
  step('work.block', 'work block w-0', { work: 'w-0' }, { fails: 'work-not-found' }),
  step('work.unhook', 'work unhook w-42', { work: 'w-42' }),
  step('work.unhook', 'work unhook w-0', { work: 'w-0' }, { fails: 'work-not-found' }),
  step('work.done', 'work done w-42 --session 5e8fa07b', { work: 'w-42', session: '5e8fa07b' }),
  step('work.done', 'work done w-0', { work: 'w-0' }, { fails: 'work-not-found' }),
  step('mail.send', 'mail send web/jam -s Hello -m there --from web/toast', {
    to: 'web/jam',
    subject: 'Hello',
    body: 'there',
    from: 'web/toast',
  }),
  step('mail.send', 'mail send // -s Hello', { to: '//', subject: 'Hello' }, { fails: 'bad-address' }),
  step('mail.inbox', 'mail inbox web/jam', { agent: 'web/jam' }),
  step('mail.inbox', 'mail inbox web/jam -n 0', { agent: 'web/jam', limit: 0 }, { fails: 'usage' }),
  step('mail.read', 'mail read m-7', { mail: 'm-7' }),
  step('mail.read', 'mail read m-0', { mail: 'm-0' }, { fails: 'mail-not-found' }),
  step('mail.reply', 'mail reply m-7 thanks', { mail: 'm-7', body: 'thanks' }),
  step('mail.reply', 'mail reply m-0 thanks', { mail: 'm-0', body: 'thanks' }, { fails: 'mail-not-found' }),
  // Events
  step('events.tail', 'events tail -n 3', { lines: 3 }, { printed: eventsOf }),
  step('events.tail', 'events tail --session nothing', { session: 'nothing' }, { fails: 'session-not-found' }),
  step('events.feed', 'events feed --agent web/toast', { agent: 'web/toast' }),
  step('events.feed', 'events feed -n 0', { lines: 0 }, { fails: 'usage' }),
  step('events.stats', 'events stats', {}),
  step('events.stats', 'events stats', {}, settings),
  step('events.decay', 'events decay', {}),
  step('events.decay', 'events decay', {}, settings),
  step('events.prune', 'events prune --dry-run', { dry_run: true }),
  step('events.prune', 'events prune --dry-run', { dry_run: true }, settings),
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
  step('turns', 'turns 22222222 --turn 2', { session: '22222222', turn: 2 }),
  step('turns', 'turns 22222222 --turn 99', { session: '22222222', turn: 99 }, { fails: 'bad-input' }),
  step('tools', 'tools 22222222', { session: '22222222' }),
  step('tools', 'tools 22222222 --step read', { session: '22222222', step: 'read' }),
  step('tools', 'tools 22222222 --step sing', { session: '22222222', step: 'sing' }, { fails: 'bad-input' }),
  step('tools', 'tools nothing', { session: 'nothing' }, { fails: 'session-not-found' }),
  step('search', 'search README.md --in tools', { text: 'README.md', in: 'tools' }),
  step('search', 'search readme --in .', { text: 'readme', directory: '<root>' }),
  step('search', 'search x --limit 0', { text: 'x', limit: 0 }, { fails: 'usage' }),
  step('export', 'export 77777777 --format html', { reference: '77777777', format: 'html' }),
  step('export', 'export nothing', { reference: 'nothing' }, { fails: 'session-not-found' }),
  step('ingest', 'ingest --tool claude', { tool: 'claude' }),
  step('ingest', 'ingest --force', { force: true }, { fails: 'usage' }),
  // Records of sessions
  step('session.start', 'session start --id made --agent web/jam --fork-of 0f3c9a12-first:2 --cwd /srv', {
    id: 'made',
    agent: 'web/jam',
    fork_of: { session: '0f3c9a12-first' as never, turn: 2 },
    cwd: '/srv',
  }),
  step('session.start', 'session start --resume --cwd /srv', { resume: true, cwd: '/srv' }, { fails: 'usage' }),
  step('session.update', 'session update made --title Made --commit 4f2a91c', {
    session: 'made',
    title: 'Made',
    commit: ['4f2a91c'],
  }),
  step('session.update', 'session update made', { session: 'made' }, { fails: 'usage' }),
  step('step.start', 'step start plan --session made', { step: 'plan', session: 'made' }),
  step(
    'step.start',
    'step start plan --session made',
    { step: 'plan', session: 'made' },
    { fails: 'illegal-transition' },
  ),
  step('step.done', 'step done plan --session made --failed', { step: 'plan', session: 'made', failed: true }),
  step(
    'step.done',
    'step done plan --session made',
    { step: 'plan', session: 'made' },
    { fails: 'illegal-transition' },
  ),
  step(
    'session.log-tool',
    ['session', 'log-tool', '--session', 'made', '--message', '{"tool_name":"Bash","tool_use_id":"t1"}'],
    { session: 'made', message: '{"tool_name":"Bash","tool_use_id":"t1"}' },
  ),
  step(
    'session.log-tool',
    'session log-tool --session made --message []',
    { session: 'made', message: '[]' },
    { fails: 'bad-input' },
  ),
  step('session.step', 'session step start build made', { action: 'start', step: 'build', session: 'made' }),
  step(
    'session.step',
    'session step start build made --failed',
    { action: 'start', step: 'build', session: 'made', failed: true },
    { fails: 'usage' },
  ),
  step('session.handoff', 'session handoff made --id next --subject half', {
    session: 'made',
    id: 'next',
    subject: 'half',
  }),
  step('session.handoff', 'session handoff nothing', { session: 'nothing' }, { fails: 'session-not-found' }),
  step('session.end', 'session end next --outcome done', { session: 'next', outcome: 'done' }),
  step(
    'session.end',
    'session end made --outcome done',
    { session: 'made', outcome: 'done' },
    { fails: 'illegal-transition' },
  ),
  // Upkeep
  step('archive.list', 'archive list --gone', { gone: true }),
  step('archive.list', 'archive list nothing', { session: 'nothing' }, { fails: 'session-not-found' }),
  step('archive.restore', 'archive restore 22222222', { session: '22222222' }),
  step('archive.restore', 'archive restore 5e8fa07b', { session: '5e8fa07b' }, { fails: 'not-archived' }),
  step('archive.stats', 'archive stats', {}),
  step('archive.stats', 'archive stats', {}, settings),
  step('archive.verify', 'archive verify', {}),
  step('archive.prune', 'archive prune', {}),
  step('archive.prune', 'archive prune', {}, settings),
  step('index.check', 'index check', {}),
  step('index.rebuild', 'index rebuild', {}),
  step('index.rebuild', 'index rebuild', {}, settings),
  step('privacy.check', 'privacy check Bash', { tool: 'Bash', directory: '<root>' }),
  step('privacy.check', 'privacy check Bash', { tool: 'Bash', directory: '<root>' }, policy),
  step('privacy.test', ['privacy', 'test', 'curl -u ada:Tr0ub4dor https://example.test'], {
    text: 'curl -u ada:Tr0ub4dor https://example.test',
  }),
  step('privacy.test', 'privacy test x --tier none', { text: 'x', tier: 'none' as 'full' }, { fails: 'usage' }),
  step('privacy.apply', 'privacy apply --dry-run', { dry_run: true }),
  step('privacy.apply', 'privacy apply --dry-run', { dry_run: true }, policy),
  step('privacy.audit', 'privacy audit', {}),
  step('privacy.audit', 'privacy audit nothing', { session: 'nothing' }, { fails: 'session-not-found' }),
  step('purge', 'purge --pattern ACME-[0-9]{6}', { pattern: 'ACME-[0-9]{6}' }),
  step('purge', 'purge --pattern (', { pattern: '(' }, { fails: 'bad-input' }),
  step('role.list', 'role list', {}),
  step('role.list', 'role list', {}, roles),
  step('role.show', 'role show crew', { role: 'crew' }),
  step('role.show', 'role show nothing', { role: 'nothing' }, { fails: 'role-unknown' }),
  step('tool.list', 'tool list', {}),
  step('tool.list', 'tool list', {}, settings),
  step('tool.show', 'tool show vibe', { tool: 'vibe' }),
  step('tool.show', 'tool show nothing', { tool: 'nothing' }, { fails: 'tool-unknown' }),
  step('tool.test', 'tool test claude --pane pane.txt', { tool: 'claude', screen: '<pane>' }),
  step('tool.test', 'tool test nothing --pane pane.txt', { tool: 'nothing', screen: 'x' }, { fails: 'tool-unknown' }),
  step('profile.list', 'profile list', {}),
  step('profile.create', 'profile create work', { name: 'work' }),
  step('profile.create', 'profile create work', { name: 'work' }, { fails: 'profile-exists' }),
  // Conversations
  step('conversations.list', 'conversations list --agent main --since 7d', { agent: 'main', since: '7d' }),
  step('conversations.list', 'conversations list --kind lots', { kind: 'lots' as 'main' }, { fails: 'usage' }),
  step('conversations.show', `conversations show ${ADA}`, { key: ADA }),
  step(
    'conversations.show',
    'conversations show agent:main:discord:dm:eve',
    { key: 'agent:main:discord:dm:eve' },
    { fails: 'conversation-not-found' },
  ),
  step('conversations.policy', `conversations policy test ${ADA} --chat-type dm`, { key: ADA, chat_type: 'dm' }),
  step(
    'conversations.policy',
    `conversations policy test ${ADA} --policy {"rules":7}`,
    { key: ADA, policy: '{"rules":7}' },
    { fails: 'bad-config' },
  ),
  step('conversations.set', `conversations set ${ADA} label=Lady`, { key: ADA, change: ['label=Lady'] }),
  step('conversations.set', `conversations set ${ADA}`, { key: ADA }, { fails: 'usage' }),
  step('conversations.prune', 'conversations prune --max 1 --dry-run', { max: 1, dry_run: true }),
  step('conversations.prune', 'conversations prune', {}, { fails: 'usage' }),
  step('conversations.reset', `conversations reset ${ADA} --keep-metadata`, { key: [ADA], keep_metadata: true }),
  step('conversations.reset', 'conversations reset', {}, { fails: 'usage' }),
  step('conversations.remove', `conversations remove ${ADA} --destroy-transcript`, {
    key: ADA,
    destroy_transcript: true,
  }),
  step('conversations.remove', `conversations remove ${ADA}`, { key: ADA }, { fails: 'conversation-not-found' }),
  step('conversations.import', 'conversations import openclaw openclaw-backup --dry-run', {
    program: 'openclaw',
    directory: '<root>/openclaw-backup',
    dry_run: true,
  }),
  step(
    'conversations.import',
    'conversations import openclaw nowhere',
    { program: 'openclaw', directory: '<root>/nowhere' },
    { fails: 'bad-input' },
  ),
  step('conversations.export', 'conversations export openclaw written', {
    program: 'openclaw',
    directory: '<root>/written',
  }),
  step(
    'conversations.export',
    'conversations export openclaw written',
    { program: 'openclaw', directory: '<root>/written' },
    { fails: 'bad-input' },
  ),
  // Agents
  step('list', 'list --rig kitchen', { rig: 'kitchen' }),
  step('list', 'list --rig //', { rig: '//' }, { fails: 'bad-address' }),
  step('agents.list', 'agents list --group web', { group: 'web', all: true }),
  step('agents.list', 'agents list --group //', { group: '//', all: true }, { fails: 'bad-address' }),
  step('agents.status', 'status', {}),
  step('agents.status', 'status --group //', { group: '//' }, { fails: 'bad-address' }),
  step('agents.next', 'next', {}),
  step('agents.next', 'next', {}, settings),
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
  step('agents.add', 'agents add ./jam --tool pi', { address: './jam', tool: 'pi' }, { fails: 'usage' }),
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
  step('agents.archive', 'agents archive honey', { agent: 'honey' }, { printed: agentOf }),
  step('agents.unarchive', 'agents unarchive honey', { agent: 'honey' }, { printed: agentOf }),
  step('agents.remove', 'remove honey', { agent: 'honey' }),
  step('agents.remove', 'remove honey', { agent: 'honey' }, { fails: 'agent-not-found' }),
  step('agents.remove', 'remove --undo', { undo: true }),
  step('agents.remove', 'agents remove honey', { agent: 'honey' }, { printed: agentOf }),
  // Running agents
  step(
    'agents.send',
    ['send', 'web/demo', 'slow 4000'], // long enough to be seen at work on a busy machine
    { agent: 'web/demo', text: 'slow 4000' },
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
  step('seance.list', 'seance --agent web/toast -n 3', { agent: 'web/toast', recent: 3 }),
  step('seance.list', 'seance list -n 0', { recent: 0 }, { fails: 'usage' }),
  step('seance.read', 'seance read 22222222', { session: '22222222' }),
  step('seance.read', 'seance read nothing', { session: 'nothing' }, { fails: 'session-not-found' }),
  // A tool that has no log of it: for that one it is written.
  step(
    'resurrect',
    'resurrect 77777777',
    { session: '77777777' },
    {
      before: [['session', 'update', '77777777', '--tool', 'pi', '--cwd', '/']],
    },
  ),
  step('resurrect', 'resurrect 77777777', { session: '77777777' }, { fails: 'illegal-transition' }),
  step('budget.set', 'budget set web/demo --hard 5usd', { agent: 'web/demo', hard: { micro_usd: 5_000_000 } }),
  step('budget.set', 'budget set web/demo --hard 5', { agent: 'web/demo', hard: '5' as never }, { fails: 'usage' }),
  step(
    'budget.set',
    'budget set --group nowhere --hard 5usd',
    { group: 'nowhere', hard: { micro_usd: 5_000_000 } },
    { fails: 'group-not-found' },
  ),
  step('budget.show', 'budget show', {}),
  step('budget.show', 'budget show nobody', { agent: 'nobody' }, { fails: 'agent-not-found' }),
  step('budget.clear', 'budget clear web/demo', { agent: 'web/demo' }),
  step('budget.clear', 'budget clear web/demo', { agent: 'web/demo' }, { fails: 'bad-input' }),
  step('checkpoint.read', 'checkpoint read --agent web/demo', { agent: 'web/demo' }, { fails: 'bad-input' }),
  step('checkpoint.write', ['checkpoint', 'write', '--agent', 'web/demo', '--notes', 'half done'], {
    agent: 'web/demo',
    notes: 'half done',
  }),
  step('checkpoint.write', 'checkpoint write --agent nobody', { agent: 'nobody' }, { fails: 'agent-not-found' }),
  step('checkpoint.read', 'checkpoint read --agent web/demo', { agent: 'web/demo' }),
  step('checkpoint.clear', 'checkpoint clear --agent web/demo', { agent: 'web/demo' }),
  step('checkpoint.clear', 'checkpoint clear --agent nobody', { agent: 'nobody' }, { fails: 'agent-not-found' }),
  step('agents.recover', 'recover --all --dry-run', { all: true, dry_run: true }),
  step('agents.recover', 'recover nobody', { agents: ['nobody'] }, { fails: 'agent-not-found' }),
  step('handoff', 'handoff web/demo --dry-run --reason later', { target: 'web/demo', dry_run: true, reason: 'later' }),
  step('handoff', 'handoff nobody', { target: 'nobody' }, { fails: 'agent-not-found' }),
  step('done', 'done web/demo --status deferred', { agent: 'web/demo', status: 'deferred' }),
  step('done', 'done nobody', { agent: 'nobody' }, { fails: 'agent-not-found' }),
  step('agents.down', 'down --group kitchen', { group: 'kitchen' }),
  step('agents.down', 'down --group //', { group: '//' }, { fails: 'bad-address' }),
  step('agents.up', 'up --group kitchen', { group: 'kitchen' }),
  step('agents.up', 'up --group //', { group: '//' }, { fails: 'bad-address' }),
  step('agents.sleep', 'sleep --group web/nothing', { group: 'web/nothing' }, { fails: 'group-not-found' }),
  step('agents.sleep', 'sleep web/demo', { agents: ['web/demo'] }, { fails: 'agent-not-ready' }),
  step('agents.wake', 'wake web/demo', { agents: ['web/demo'] }),
  step('agents.wake', 'wake nobody', { agents: ['nobody'] }, { fails: 'agent-not-found' }),
  step('agents.stop', 'stop web/demo', { agents: ['web/demo'] }),
  step('agents.stop', 'stop web/demo nobody', { agents: ['web/demo', 'nobody'] }, { fails: 'agent-not-found' }),
  step('agents.kill', 'kill --group web', { group: 'web' }),
  step('agents.kill', 'kill web', { agents: ['web'] }, { fails: 'agent-not-found' }),
  // Starts agents, which stay
  step(
    'fork',
    'fork 22222222 --turn 999 --chat-only',
    { session: '22222222', turn: 999, chat_only: true },
    { fails: 'bad-input' },
  ),
  step('fork', 'fork 22222222 --turn 1 --chat-only --tool demo --name ops/again', {
    session: '22222222',
    turn: 1,
    chat_only: true,
    tool: 'demo',
    name: 'ops/again',
  }),
  step('sling', 'sling w-43 ops --tool demo --repo repo', {
    work: 'w-43',
    group: 'ops',
    tool: 'demo',
    repo: '<root>/repo',
  }),
]
