import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { endAgents, needsProgram, preludeOf, runnable } from './agent-prelude.js'
import { everyCommand, wordsOf } from './every-command.js'
import { type } from './typed.js'
import { agentsUnder, buildWorld, copyWorld, daemonUnder, profilesUnder, scratch } from './world.js'

interface Field {
  type: string
  isAlways: boolean
}
type Shape = Map<string, Field>

/** The page is the promise: its tables are read as they stand. */
const page = readFileSync(new URL('../../docs/JSON.md', import.meta.url), 'utf8')
const shapes = new Map<string, Shape>(
  page
    .split(/^### /m)
    .slice(1)
    .map((section) => {
      const rows = [...section.matchAll(/^\| `(.+?)` +\| (.+?) +\| (.+?) +\|/gm)]
      const fields = rows.map(
        ([, name = '', kind = '', present]) => [name, { type: kind, isAlways: present === 'always' }] as const,
      )
      return [section.split('\n')[0] ?? '', new Map(fields)]
    }),
)
const promised = new Map(
  [...page.matchAll(/^\| `skein (.+?)` +\| \[(.+?)\](?:.*; (?:for several agents|alone) \[(.+?)\])?/gm)].map(
    ([, name = '', shape = '', several]) => [name, { shape, several }],
  ),
)

/** What the two logs of the world do not have. */
const RARE = new Set([
  // Only with turns.commit: see turn-branches.test.ts.
  ...['session', 'turns', 'explanation'].map((shape) => `${shape}.turn_branch`),
  ...['branch', 'turns', 'worktree', 'commit', 'problem', 'push'].map((field) => `turn-branch.${field}`),
  ...['at', 'reason'].map((field) => `branch-problem.${field}`),
  ...['remote', 'outcome', 'at', 'commit', 'reason', 'tries', 'next_at'].map((field) => `branch-push.${field}`),
  // See turn-list.test.ts; what only some snapshots have: see capture.test.ts.
  ...['agent', 'reply_after_calls', 'error'].map((field) => `turn-state.${field}`),
  ...['session', 'agent', 'title', 'turn', 'forks'].map((field) => `turn-fork.${field}`),
  ...['operation', 'start'].map((field) => `turn-snapshot.${field}`),
  ...['path', 'reason', 'bytes'].map((field) => `skipped-path.${field}`),
  ...['path', 'store', 'commit'].map((field) => `nested-snapshot.${field}`),
  ...['tool', 'tool_version', 'model', 'permission_mode', 'arguments', 'settings_hash'].map(
    (field) => `turn-start.${field}`,
  ),
  // See turn-code.test.ts.
  'code-edit.changes',
  'file-change.from',
  ...['session', 'seq'].map((field) => `broken-snapshot.${field}`),
  'handoff-receipt.mail',
  'done-receipt.submitted',
  'detached.detached',
  'detached.log',
  'turn.error',
  'exported-turn.error',
  'exported-session.before',
  'mail.is_hooked', // of handoffs
  'tree.more', // of lineages deeper than 200
  'send-answer.file', // see conversations.test.ts
  'events.events', // of the API: the command prints one event per line
  'conversations.problems', // see conversations.test.ts
  'exported-call.paths', // where a policy keeps the arguments of edits: see document.test.ts
  'model-call.cost_usd',
  'search-hit.agent', // where an agent ran the session: see search.test.ts
  'unreadable-log.path',
  'unreadable-log.reason',
  'tool-detail.path',
  'tool-detail.version',
  // Of commands that fail: see report-error.test.ts and several.test.ts.
  ...['receipts', 'start-receipts', 'restart-receipts', 'waited'].map((shape) => `${shape}.failures`),
  ...['failure.agent', 'failure.error', 'error.error'],
  ...['code', 'message', 'next', 'details', 'stack'].map((field) => `error-facts.${field}`),
  'evidence.trouble',
  // Of programs that tell what they ask: see answering.test.ts.
  ...['ask.tool', 'ask.is_queued', 'dialog.is_cut'],
  // Of turns and prompts of programs that tell: see turns.test.ts.
  ...['send-receipt.reason', 'evidence.turn', 'running-agent.pending_prompt_at'],
  // Of agents whose program asks: see answer-script.test.ts.
  ...['session', 'source', 'parent', 'handoff', 'lock'].map((field) => `prime.${field}`),
  ...['identity-lock.pid', 'identity-lock.at'],
  ...['hook-report.because', 'hook-report.backup', 'hook-state.because'], // see installed-hooks.test.ts
  // Of agents that went down, and of the watchdog: see recover.test.ts and watchdog.test.ts.
  ...['running-agent.down', 'running-agent.respawn', 'running-agent.parked', 'running-agent.limit_until'],
  ...['recovery-receipt.error', 'fall.parked'],
  ...['next-respawn.count', 'next-respawn.at', 'parked.kind', 'parked.reason', 'parked.next', 'parked.until'],
  ...['session_id', 'molecule_id', 'current_step', 'step_title', 'branch', 'last_commit'].map(
    (field) => `checkpoint.${field}`, // see checkpoint.test.ts
  ),
  'checkpoint.modified_files',
  'auto-prune.archive', // see retain.test.ts
  ...['at', 'logs', 'bytes_freed', 'by_age', 'by_size'].map((field) => `archive-pruned.${field}`),
  ...['session', 'tool', 'from', 'cwd', 'is_directory_gone', 'agent', 'reply', 'reason'].map(
    (field) => `seance-talk.${field}`, // see seance.test.ts
  ),
  ...['turn.reply_after_calls', 'exported-turn.reply_after_calls'], // of turns that were cut off: see fold.test.ts
  // Of forks with code: see fork.test.ts.
  ...[
    'fork-receipt.worktree',
    'fork-receipt.is_exact',
    'fork-receipt.branch',
    'missing-file.path',
    'missing-file.reason',
  ],
  ...['not-included.path', 'not-included.because'],
  // See blame.test.ts.
  ...['root', 'path', 'writers', 'lines'].map((field) => `blame.${field}`),
  ...['number', 'text', 'writer'].map((field) => `blamed-line.${field}`),
  ...['kind', 'session', 'agent', 'turn', 'prompt', 'at', 'beside', 'commit', 'author', 'summary'].map(
    (field) => `line-writer.${field}`,
  ),
  // See pack.test.ts.
  ...['pack-report.code_as_of', 'unpack-receipt.directory', 'unpack-receipt.branch'],
  // See history/bisect.test.ts.
  ...['session', 'outcome', 'turn', 'turns', 'prompt', 'is_edited_before', 'runs', 'skipped'].map(
    (field) => `bisection.${field}`,
  ),
  ...['turn', 'edge', 'as_of', 'verdict', 'exit_code', 'is_late', 'duration_ms', 'output'].map(
    (field) => `bisect-run.${field}`,
  ),
  ...['skipped-turn.turn', 'skipped-turn.reason'],
  // See resurrect.test.ts.
  ...['session', 'source_session_id', 'tool', 'turns', 'from', 'left_out'].map((field) => `resurrection.${field}`),
  // Of agents with a role: see start-roles.test.ts.
  ...['session.topic', 'session.sender', 'roles.preset', 'roles.root', 'role.stuck_after', 'role.hibernate_after'],
  ...['heartbeat.last_command', 'heartbeat.timestamp'], // of programs that report: see silence-rounds.test.ts
  ...['topic', 'sender', 'closes_pane'].map((field) => `start-record.${field}`),
  // What it takes a daemon or an agent for that runs.
  'daemon-status.answers',
  'daemon-status.pid',
  'daemon-status.version',
  'daemon-status.socket',
  'daemon-status.started_at',
  'daemon-status.memory_bytes',
  'daemon-status.event_loop',
  'daemon-status.ingest',
  'daemon-stop.pid',
  'running-agent.context_tokens',
  'running-agent.cost_micro_usd',
  'running-agent.unpriced_calls',
  'agent-output.is_earlier',
  'older-version.version',
  'older-version.superseded_at',
  'archive-retention.max_age',
  'archive-retention.max_bytes',
  ...['tool', 'session', 'path', 'modified_at', 'stored_bytes', 'because'].map((field) => `pruned-log.${field}`),
])

const seen = new Set<string>()

/** What is wrong with a value, or nothing. */
function complaints(value: unknown, kind: string, path: string): string[] {
  const link = /^\[(.+?)\]\(#\1\)$/.exec(kind)?.[1]
  if (link) return shapeComplaints(value, link, path)
  const item = /^list of (.+)$/.exec(kind)?.[1]
  if (item) {
    if (!Array.isArray(value)) return [`${path} is no list`]
    return value.flatMap((one, at) => complaints(one, item, `${path}[${at}]`))
  }
  const entry = /^map of (.+)$/.exec(kind)?.[1]
  if (entry || kind === 'object') {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${path} is no object`]
    return entry ? Object.entries(value).flatMap(([key, one]) => complaints(one, entry, `${path}.${key}`)) : []
  }
  const fits: Record<string, boolean> = {
    text: typeof value === 'string',
    time: typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value),
    integer: Number.isInteger(value),
    number: typeof value === 'number',
    boolean: typeof value === 'boolean',
  }
  if (fits[kind] === undefined) return [`${path}: the page has an unknown type ${kind}`]
  return fits[kind] ? [] : [`${path} is ${JSON.stringify(value)}, not ${kind}`]
}

function shapeComplaints(value: unknown, name: string, path: string): string[] {
  const shape = shapes.get(name)
  if (!shape) return [`the page has no shape ${name}`]
  if (typeof value !== 'object' || value === null) return [`${path} is no ${name}`]
  const missing = [...shape].filter(([field, { isAlways }]) => isAlways && !Object.hasOwn(value, field))
  return [
    ...missing.map(([field]) => `${path}.${field} is missing`),
    ...Object.entries(value).flatMap(([key, one]) => {
      seen.add(`${name}.${key}`)
      const field = shape.get(key)
      return field ? complaints(one, field.type, `${path}.${key}`) : [`${path}.${key} is not on the page`]
    }),
  ]
}

/** Beside the examples: what it takes to see every field once. */
const MORE = [
  'skein sessions list --limit 1',
  'skein list --limit 1',
  'skein why web/asker',
  'skein agents show web/jam',
  'skein sessions show 22222222',
  'skein session update 5e8fa07b --commit 4f2a91c',
  'skein session step complete design 5e8fa07b',
  'skein session start --parent 7d20b1c4',
  'skein conversations reset agent:main:discord:dm:ada --destroy-transcript',
  'skein conversations prune --max 1',
  'skein work done w-42 --session 5e8fa07b',
  'skein mail read m-7 --session 5e8fa07b',
  'skein budget set --all --per day --soft 1Mtok --hard 2Mtok',
  'skein tool show team-claude',
  'skein tool test claude --pane failed.txt',
]

describe('every command prints with --json what docs/JSON.md promises', async () => {
  const world = scratch()
  const commands = await everyCommand()
  beforeAll(async () => {
    await buildWorld(join(world.path, 'master'))
    return () => world[Symbol.dispose]()
  })

  it('has a row for each command and for no other', () => {
    expect([...promised.keys()]).toEqual(commands.map(({ name }) => name))
  })

  const lines = [...commands.flatMap(({ command }) => command.examples.map(([line]) => line)), ...MORE]
  it.each(lines.filter((line) => !needsProgram(line)))('%s', async (line) => {
    using copy = scratch()
    const root = join(copy.path, 'home')
    copyWorld(join(world.path, 'master'), root)
    const args = wordsOf(runnable(line)).slice(1)
    const startsWith = (name: string) => args.slice(0, name.split(' ').length).join(' ') === name
    const names = commands.map((one) => one.name).filter(startsWith)
    const name = names.sort((a, b) => b.length - a.length)[0] ?? '' // `archive list` before `archive <agent>`
    const flags = args.includes('--json') ? [] : ['--json']
    const own = {
      profiles: profilesUnder(root),
      agents: agentsUnder(root),
      daemon: daemonUnder(root),
      cwd: root,
      now: Date.now,
    }
    for (const before of preludeOf(line)) expect((await type(wordsOf(before).slice(1), own)).stderr).toBe('')
    const { stdout, stderr, exitCode } = await type([...args, ...flags], own).finally(() => endAgents(root))
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
    const documents = name === 'events tail' || name === 'daemon logs' ? stdout.trimEnd().split('\n') : [stdout]
    const { shape = '', several } = promised.get(name) ?? {}
    const shapeOf = (document: object): string =>
      several && ('receipts' in document || 'agents' in document) ? several : shape
    const found = documents.map((text) => JSON.parse(text) as object)
    expect(found.flatMap((document) => shapeComplaints(document, shapeOf(document), name))).toEqual([])
  })

  it('promises no field that was never seen, except what later parts of Skein fill in', () => {
    const all = [...shapes].flatMap(([name, shape]) => [...shape.keys()].map((field) => `${name}.${field}`))
    const later = all.filter((field) => RARE.has(field))
    expect(all.filter((field) => !seen.has(field))).toEqual(later)
  })
})
