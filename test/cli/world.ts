import { execFileSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Profiles } from '../../src/cli/world.js'
import { ConversationStore } from '../../src/conversations/index.js'
import type { DaemonFacts } from '../../src/daemon/index.js'
import { createProfile, deleteProfile, type Home, listProfiles, openHome } from '../../src/home/index.js'
import { Journal } from '../../src/journal/index.js'
import { type AgentRun, AgentRuns, type Agents, agentsOf, configuredParts } from '../../src/lifecycle/index.js'
import { type Context, type Event, instantOf, nextEventId, type SessionId } from '../../src/model/index.js'
import { GONE } from '../support/gone.js'

/** A directory of its own, gone at the end of the test. */
export function scratch(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'skein-cli-'))
  return { path, [Symbol.dispose]: () => rmSync(path, GONE) }
}

const context: Context = {
  clock: { now: Date.now },
  random: {
    bytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
    uuid: () => crypto.randomUUID(),
  },
  warn: () => {},
  progress: () => {},
  actor: 'ada',
  host: 'bench',
}

export function profilesUnder(root: string): Profiles {
  return {
    open: (profile) =>
      openHome({
        root,
        configFile: join(root, 'config.toml'),
        profile,
        context,
        surroundings: { home: root, env: { PATH: process.env.PATH }, zone: 'UTC' },
      }),
    list: async () => listProfiles(root).map((name) => ({ name, directory: join(root, 'profiles', name) })),
    create: async (name) => ({ name, directory: createProfile(root, name) }),
    remove: async (name) => deleteProfile(root, name),
  }
}

/** Agents in a tmux server of this home alone, which is not there until one is started. */
export const agentsUnder =
  (root: string) =>
  async (home: Home): Promise<Agents> => {
    const facts = { ownRoot: root, temporary: tmpdir(), userId: process.geteuid?.() }
    return agentsOf(await configuredParts({ home, context, configFile: join(root, 'config.toml'), facts }))
  }

/** The built daemon, for a home under this directory. */
export const daemonUnder = (root: string): DaemonFacts => ({
  root,
  configFile: join(root, 'config.toml'),
  temporary: tmpdir(),
  userId: process.geteuid?.(),
  version: JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version,
  program: fileURLToPath(new URL('../../dist/daemon/daemon-main.cjs', import.meta.url)),
  env: { PATH: process.env.PATH, HOME: root, SKEIN_HOME: root, TZ: 'UTC' },
  platform: 'linux',
})

/**
 * The world that the examples in help talk about: two groups with agents, two without, a chain with a crash at its end, a
 * fork, and sessions that are still active.
 */
export async function buildWorld(root: string): Promise<void> {
  mkdirSync(root, { recursive: true })
  const profiles = profilesUnder(root)
  await profiles.create('play')
  await using home = await profiles.open('default')
  await buildRoster(home)
  await buildSessions(home)
  buildLogs(root)
  buildTools(root)
  await home.history.ingest()
  const found = '22222222-2222-4222-8222-222222222222'
  await home.sessions.start({ id: found, resume: true })
  await home.sessions.step(found, { step_ref: 'look', molecule_id: 'mol-9', state: 'started' })
  await home.sessions.step(found, { step_ref: 'look', state: 'completed' })
  await buildConversations(join(home.directory, 'conversations'))
  buildOpenClaw(join(root, 'openclaw-backup'))
  await buildWork(home)
  buildRepository(join(root, 'repo'))
  await buildSnapshots(home, join(root, 'captured'), found)
  await home.sessions.markTurn(found, 2, { note: 'The one that worked', pinned: true })
  await home.events.append({ type: 'mail', agent: 'web/toast', payload: { to: 'web/toast', subject: 'hello' } })
  await home.events.prune()
  await buildRun(root, home)
  for (const target of ['a', 'b', 'c']) await home.events.append({ type: 'spawn', payload: { target } })
}

/** A unit and a mail with ids that the examples can name. */
async function buildWork(home: Home): Promise<void> {
  const now = instantOf(Date.now())
  const toast = await home.roster.agent('web/toast')
  const unit = {
    ...{ id: 'w-42', title: 'Fix the login', body: 'It fails', status: 'open', priority: 1, group: 'web' },
    ...{ molecule_id: 'mol-7', created_at: now, updated_at: now, created_by: 'ada' },
  }
  const mail = {
    ...{ id: 'm-7', from: 'web/jam', from_agent_id: (await home.roster.agent('web/jam')).id, to: toast.address },
    ...{
      to_agent_id: toast.id,
      subject: 'Where is it?',
      body: 'The branch',
      kind: 'message',
      priority: 2,
      sent_at: now,
    },
    ...{ thread_id: 'm-6', reply_to: 'm-6', from_session: 'jam-1', for_session: 'toast-0' },
  }
  using journal = new Journal(join(home.directory, 'events'))
  let last = await home.events.lastId()
  for (const [type, payload] of [
    ['work_changed', { unit }],
    ['work_changed', { unit: { ...unit, id: 'w-43' } }],
    ['work_changed', { unit: { ...unit, id: 'w-44', status: 'blocked', reason: 'needs the key' } }],
    ['work_changed', { unit: { ...unit, id: 'w-45', status: 'hooked', agent: toast.address, agent_id: toast.id } }],
    ['mail_changed', { mail: { ...mail, id: 'm-8', to: 'ada', to_agent_id: undefined } }],
    ['mail_changed', { mail }],
    // While the session of the fixture ran.
    ['session_step_started', { step_ref: 'read', started_at: '2026-11-15T09:52:20.000Z' }],
    ['session_step_completed', { step_ref: 'read', completed_at: '2026-11-15T09:52:50.000Z', success: true }],
  ] as const) {
    last = nextEventId(last, Date.now(), context.random.bytes(10))
    const ofSession = type.startsWith('session_')
      ? { session: '22222222-2222-4222-8222-222222222222' as SessionId }
      : {}
    const event: Event = {
      id: last,
      ts: now,
      type,
      actor: 'ada',
      ...ofSession,
      payload,
      visibility: 'audit',
      host: 'bench',
    }
    journal.append([event], { durable: false, nowMs: Date.now() })
  }
}

/** The code of a turn, what a person changed after it, and a rewind that can be taken back. */
async function buildSnapshots(home: Home, directory: string, session: string): Promise<void> {
  const { turns } = await home.history.turns(session)
  const startOf = (number: number): number => Date.parse(turns.find((turn) => turn.number === number)?.started_at ?? '')
  const take = (moment: 'prompt' | 'stop' | 'safety', asOfMs: number): Promise<unknown> =>
    home.snapshots.capture({ directory, session, moment, asOfMs })
  buildRepository(directory)
  await take('prompt', startOf(2))
  writeFileSync(join(directory, 'README.md'), 'hello\nworld\n')
  await take('stop', startOf(2) + 100)
  mkdirSync(join(directory, 'src'))
  writeFileSync(join(directory, 'src', 'new.txt'), 'by a person\n')
  // The turns are of the past, and the file is new: it was there before the prompt only if a snapshot before that has it.
  await take('safety', startOf(2) + 200)
  await take('prompt', startOf(3))
  await take('safety', startOf(3) + 1)
}

/** A git repository with one commit. */
function buildRepository(directory: string): void {
  const git = (...args: string[]): void => {
    const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org']
    execFileSync('git', [...who, '-C', directory, ...args], { env: { PATH: process.env.PATH, HOME: directory } })
  }
  mkdirSync(directory)
  writeFileSync(join(directory, 'README.md'), 'hello\n')
  git('init', '-q', '-b', 'main')
  git('add', '.')
  git('commit', '-q', '-m', 'first')
}

export function copyWorld(from: string, to: string): void {
  // A lock of git is there for a moment only: an example may put files back in the repository that the master's snapshots are of.
  const filter = (path: string): boolean => !path.endsWith('.lock')
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, filter })
}

/** An agent that ran and failed, and what the daemon of that time wrote down. */
async function buildRun(root: string, home: Home): Promise<void> {
  const agent = await home.roster.agent('kitchen/knife')
  const at = instantOf(Date.now() - 600_000)
  const next: AgentRun = {
    v: 1,
    agent: agent.id,
    recipe: { tool: 'claude', cwd: root },
    status: { status: 'error', since: at, source: 'process', trouble: 'dead-pane', reason: 'exited 3' },
  }
  await new AgentRuns(home, context).update(agent, () => ({ next, result: undefined }))
  mkdirSync(join(root, 'run'), { mode: 0o700 })
  writeFileSync(join(root, 'run', 'default.log'), `${at} process 4711 ends: it was asked to\n`)
}

/** Two logs of Claude Code: one with a sub-agent, one with a title. They stay where they are when the world is copied. */
function buildLogs(root: string): void {
  const fixtures = new URL('../fixtures/claude/2.1.325/', import.meta.url)
  const project = join(root, 'logs', 'claude', 'projects', '-srv-web')
  mkdirSync(project, { recursive: true })
  const own = '22222222-2222-4222-8222-222222222222'
  cpSync(new URL('interactive-7turns-tools-subagent.jsonl', fixtures), join(project, `${own}.jsonl`))
  cpSync(new URL('interactive-7turns-tools-subagent/', fixtures), join(project, own), { recursive: true })
  cpSync(
    new URL('interactive-with-ai-title.jsonl', fixtures),
    join(project, '77777777-7777-4777-8777-777777777777.jsonl'),
  )
  writeFileSync(
    join(root, 'config.toml'),
    `[daemon]\nautostart = false\ningest = false\n\n[logs]\nclaude = [${JSON.stringify(join(root, 'logs', 'claude'))}]\n\n[prices."claude-opus-5*"]\ninput = 5\noutput = 25\n`,
  )
}

/** A tool of the user's own with every key there is, one that is like another, and the recorded screen of a third. */
function buildTools(root: string): void {
  cpSync(new URL('../fixtures/claude/panes/permission-bash.txt', import.meta.url), join(root, 'pane.txt'))
  cpSync(new URL('../fixtures/claude/panes/cut-00-idle.txt', import.meta.url), join(root, 'failed.txt'))
  appendFileSync(
    join(root, 'config.toml'),
    `
[tools.vibe]
command = "vibe --quiet"
icon = "♪"
busy_patterns = ["executing", "re:^running tool"]
prompt_patterns = ["approve?", "[y/n]"]
idle_patterns = ["ready"]
detect_patterns = ["mistral vibe"]
resume_flag = "--resume"
session_id_env = "VIBE_SESSION_ID"
session_id_json_path = ".session_id"
output_format_flag = "--output-format json"
dangerous_flag = "--auto-approve"
dangerous_mode = true
env_file = "vibe.env"
[tools.vibe.env]
VIBE_MODE = "quick"

[roles.crew]
address = "{group}/crew/{name}"
session_name = "{group}-crew-{name}"
cwd = ${JSON.stringify(`${root}/{group}/crew/{name}`)}
context = "You are a long-lived worker."
instructions = "Ask before you push."
tool = "claude"
model = "opus"
args = ["--verbose"]
dangerous = false
theme = "ocean"

[tools.team-claude]
command = "/opt/team/claude-wrapper"
compatible_with = "claude"

[tools.demo]
command = ${JSON.stringify(buildProgram(join(root, 'demo-program')))}
`,
  )
  mkdirSync(join(root, 'patterns'))
  writeFileSync(join(root, 'patterns', 'demo.json'), JSON.stringify(DEMO_RULES))
}

/** A program with a version, wherever and however Node was installed. */
function buildProgram(directory: string): string {
  const program = join(directory, 'demo')
  const agent = fileURLToPath(new URL('../workers/fake-agent.mjs', import.meta.url))
  mkdirSync(directory)
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ bin: 'demo', version: '1.2.3' }))
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${agent}' "$@"\n`, { mode: 0o700 })
  return program
}

/** Every kind of field that a list shows, on conversations of two agents. */
async function buildConversations(directory: string): Promise<void> {
  using store = new ConversationStore({ directory })
  const main = store.open('main')
  const ada = 'agent:main:discord:dm:ada'
  await main.receive(ada, { text: 'hi', from: 'ada' })
  await main.patch(ada, { label: 'Ada', model: 'opus', totalTokens: 1_200, sendPolicy: 'allow', sdkSessionId: 'sdk-1' })
  await main.append(ada, { role: 'user', content: 'What is a skein?' })
  await main.receive('agent:main:slack:group:team', { group: { subject: 'Team' } })
  await main.thread('agent:main:slack:group:team', 7)
  await main.spawn(ada, { name: 'worker' })
  await main.receive('agent:main:cron:nightly')
  await store.open('codex').receive('agent:codex:discord:dm:ada')
}

/** How the screen of the fake agent is read. */
const DEMO_RULES = {
  tool: 'demo',
  version: 1,
  input: { prompt: '^> ?(?<text>.*)$', placeholders: [] },
  meanings: [
    { label: '^No', meaning: 'deny' },
    { label: 'never ask|stop asking', meaning: 'auto' },
    { label: 'always', meaning: 'allow-always' },
    { label: '^Yes', meaning: 'allow' },
  ],
  rules: [
    {
      id: 'question',
      region: 'bottom',
      lines: 8,
      match: ['^QUESTION: (?<what>.*)$', '^❯ '],
      status: 'waiting',
      waiting_for: 'permission',
      reason: '{what}',
      dialog: { kind: 'permission', question: '^QUESTION: ' },
    },
    { id: 'working', region: 'bottom', lines: 1, match: '^WORKING', status: 'running' },
    { id: 'idle', region: 'bottom', lines: 1, match: '^>', status: 'idle' },
  ],
}

/** A store of another program, with one entry that cannot be taken over. */
function buildOpenClaw(state: string): void {
  const sessions = join(state, 'agents', 'main', 'sessions')
  mkdirSync(sessions, { recursive: true })
  const entry = { sessionId: 'a875929b', updatedAt: Date.now() }
  const found = { 'agent:main:telegram:direct:42': entry, 'agent:codex:main': entry }
  writeFileSync(join(sessions, 'sessions.json'), JSON.stringify(found))
}

async function buildRoster({ roster }: Home): Promise<void> {
  await roster.add({
    address: 'web/toast',
    tool: 'claude',
    role: 'builder',
    title: 'Front end',
    project_path: '/srv/web',
  })
  await roster.add({ address: 'web/butter', tool: 'codex', parent: 'web/toast', command: 'codex --full-auto' })
  await roster.add({ address: 'web/jam', tool: 'gemini', loaded_mcp_names: ['files'] })
  await roster.add({ address: 'kitchen/knife', tool: 'claude' })
  for (const group of ['ops', 'lab', 'attic']) await roster.createGroup(group)
}

async function buildSessions({ sessions }: Home): Promise<void> {
  await sessions.start({
    id: '0f3c9a12-first',
    agent: 'web/toast',
    title: 'Fix the login',
    work_unit: 'wk-42',
    molecule_id: 'mol-7',
    cwd: '/srv/web',
    branch: 'login',
    model: 'opus',
    tmux_session: 'skein-toast',
  })
  await sessions.handoff('0f3c9a12-first', { id: '7d20b1c4-second', subject: 'half done' })
  await sessions.end('7d20b1c4-second', { outcome: 'crash', reason: 'pane died' })
  await sessions.start({ id: '9c11d2ab-fork', forked_from: { session: '0f3c9a12-first', turn: 3 }, tool: 'claude' })
  await sessions.end('9c11d2ab-fork', { outcome: 'done' })
  await sessions.start({ id: '5e8fa07b-active', agent: 'web/butter', title: 'Write the docs' })
  for (const step_ref of ['design', 'tests']) {
    await sessions.step('5e8fa07b-active', { step_ref, molecule_id: 'mol-8', state: 'started' })
  }
  await sessions.start({ id: 'c3d94e60-active', tool: 'pi', title: 'Look around' })
  await sessions.start({ id: 'b1a7e2d9-active', agent: 'web/jam', title: 'Speed up the login page' })
}
