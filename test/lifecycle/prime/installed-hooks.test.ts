import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { openHome } from '../../../src/home/index.js'
import { openAgents } from '../../../src/lifecycle/index.js'
import { InstalledHooks } from '../../../src/lifecycle/prime/installed-hooks.js'
import { type InstalledSkein, isInstalledHook, RUNNERS, type ToolRunner } from '../../../src/tools/index.js'
import { HookSettings } from '../../../src/tools/run/json-edit.js'
import { scratch } from '../../home/scratch.js'
import { filesOf } from '../../support/files-of.js'
import { contextOf } from '../context.js'
import { eventually } from '../workshop.js'

const SKEIN = fileURLToPath(new URL('../../../bin/skein.js', import.meta.url))
const SESSION = '11111111-1111-4111-8111-111111111111'

let root: string
let home: string

beforeEach(() => {
  root = scratch()
  home = join(root, 'user')
  mkdirSync(home)
})

const skein = (more: Partial<InstalledSkein> = {}): InstalledSkein => ({
  node: '/usr/bin/node',
  program: "/opt/it's here/skein.js",
  spool: join(root, 'skein/spool'),
  env: {},
  ...more,
})
const hooks = (more: Partial<InstalledSkein> = {}): InstalledHooks =>
  new InstalledHooks(join(root, 'skein'), { home, env: {} }, skein(more))
const tool = (name: string): ToolRunner => {
  const found = RUNNERS.find((one) => one.name === name)
  if (!found) throw new Error(name)
  return found
}
const TOOLS = ['claude', 'codex', 'gemini', 'opencode', 'pi'].map((name) => tool(name))
const IN_SETTINGS = TOOLS.filter(({ install }) => install?.kind === 'settings')
const pathOf = ({ install }: ToolRunner): string => install?.path({ home, env: {} }) ?? ''
const put = (runner: ToolRunner, text: string | Buffer): void => {
  mkdirSync(dirname(pathOf(runner)), { recursive: true })
  writeFileSync(pathOf(runner), text)
}
/** As a program reads it that allows comments. */
const parsed = (text: string): Record<string, unknown> => {
  const plain = text
    .replace(/^\ufeff/, '')
    .replace(/"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (piece) => (piece.startsWith('"') ? piece : ''))
    .replace(/"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])/g, (piece) => (piece.startsWith('"') ? piece : ''))
  return JSON.parse(plain)
}
const ours = (runner: ToolRunner): number => {
  const settings = new HookSettings(readFileSync(pathOf(runner), 'utf8'))
  return settings.eventsWith(isInstalledHook).flatMap((event) => settings.commandsOf(event, isInstalledHook)).length
}
const expected = ({ install }: ToolRunner): number => (install?.kind === 'settings' ? install.events.length : 0)

const THEIRS = { hooks: [{ type: 'command', command: 'echo theirs' }] }
const FILES: Record<string, string> = {
  'an empty object': '{}',
  'nothing at all': '',
  'blanks alone': '\n  \n',
  'one line': '{"model":"opus","env":{"A":"1"}}',
  'comments, unknown keys and trailing commas':
    '// mine\n{\n\t"model": "opus", /* a } brace and "hooks": [ */\n\t"url": "http://x//y", // not a comment\n\t"list": [1, 2,],\n}\n// end\n',
  'Windows line endings and a byte order mark': '\ufeff{\r\n    "model": "opus",\r\n    "unknown": null\r\n}\r\n',
  "other people's hooks": JSON.stringify(
    { hooks: { SessionStart: [THEIRS], Stop: [THEIRS], PreToolUse: [] } },
    undefined,
    4,
  ),
  'an empty list of hooks': '{ "hooks": { "SessionStart": [ ] } }',
  'hooks with comments':
    '{\n  "hooks": {\n    // theirs\n    "SessionStart": [\n      // first\n      {"hooks": [{"type": "command", "command": "echo"}]} // last\n    ]\n  }\n}',
  'the same key twice': '{"hooks": {"Stop": []}, "a": 1, "hooks": {"SessionStart": []}}',
  'words beyond ASCII': '{"name": "Zoë \\u00e9 🧵", "deep": {"hooks": {"SessionStart": "not here"}}}\n',
  'no line feed at the end': '{\n  "a": 1\n}',
}

describe.each(IN_SETTINGS)('the settings of $name', (runner) => {
  it.each(Object.entries(FILES))(
    'with %s are the same, byte for byte, after install and uninstall',
    async (_, text) => {
      put(runner, text)
      const report = await hooks().install(runner)
      expect(report).toMatchObject({ did: 'installed', backup: `${pathOf(runner)}.skein-backup` })
      const after = readFileSync(pathOf(runner), 'utf8')
      expect(ours(runner)).toBe(expected(runner))
      const [before, now] = [text.trim() === '' ? {} : parsed(text), parsed(after)]
      for (const key of Object.keys(before)) if (key !== 'hooks') expect(now[key]).toEqual(before[key])
      for (const [event, entries] of Object.entries((before.hooks ?? {}) as Record<string, unknown[]>))
        expect((now.hooks as Record<string, unknown[]>)[event]).toEqual(expect.arrayContaining(entries))
      expect(hooks().status(runner).state).toBe('installed')

      expect((await hooks().install(runner)).did).toBe('unchanged')
      expect(readFileSync(pathOf(runner), 'utf8')).toBe(after)

      expect(await hooks().uninstall(runner)).toEqual({ tool: runner.name, path: pathOf(runner), did: 'removed' })
      expect(readFileSync(pathOf(runner), 'utf8')).toBe(text)
      expect(existsSync(`${pathOf(runner)}.skein-backup`)).toBe(false)
      expect((await hooks().uninstall(runner)).did).toBe('absent')
    },
  )

  it('that were not there are gone again', async () => {
    const before = filesOf(home)
    expect((await hooks().install(runner)).did).toBe('installed')
    expect(ours(runner)).toBe(expected(runner))
    expect((await hooks().uninstall(runner)).did).toBe('removed')
    expect(filesOf(home)).toEqual(before)
  })

  it('get the path of a newer Skein, and go back to what they were before the older one', async () => {
    const text = FILES["other people's hooks"] ?? ''
    put(runner, text)
    await hooks({ program: '/old/skein.js' }).install(runner)
    expect(hooks().status(runner).state).toBe('outdated')
    expect((await hooks().install(runner)).did).toBe('updated')
    expect(ours(runner)).toBe(expected(runner))
    expect(readFileSync(pathOf(runner), 'utf8')).not.toContain('/old/')
    await hooks().uninstall(runner)
    expect(readFileSync(pathOf(runner), 'utf8')).toBe(text)
  })

  it('that their user has edited meanwhile lose only our part', async () => {
    put(runner, '{\n  "a": 1\n}\n')
    await hooks().install(runner)
    const edited = readFileSync(pathOf(runner), 'utf8').replace('"a": 1', '"a": 2, // mine\n  "b": [3]')
    writeFileSync(pathOf(runner), edited)
    expect(await hooks().uninstall(runner)).toMatchObject({ did: 'removed', backup: `${pathOf(runner)}.skein-backup` })
    expect(readFileSync(pathOf(runner), 'utf8')).toBe('{\n  "a": 2, // mine\n  "b": [3]\n}\n')
  })

  it('lose only our part when nothing is known about the installation', async () => {
    put(runner, FILES["other people's hooks"] ?? '')
    await hooks().install(runner)
    rmSync(join(root, 'skein'), { recursive: true })
    await hooks().uninstall(runner)
    expect(readFileSync(pathOf(runner), 'utf8')).toBe(FILES["other people's hooks"])
  })

  it('keep a hook that their user put into our entry', async () => {
    put(runner, '{}')
    await hooks().install(runner)
    const text = readFileSync(pathOf(runner), 'utf8')
    writeFileSync(
      pathOf(runner),
      text.replace('"hooks": [\n          {', '"hooks": [\n          { "command": "echo mine" },\n          {'),
    )
    await hooks().uninstall(runner)
    expect(ours(runner)).toBe(0)
    expect(readFileSync(pathOf(runner), 'utf8')).toContain('echo mine')
  })

  it('behind a link stay behind it, with their mode', async () => {
    const target = join(home, 'dotfiles.json')
    writeFileSync(target, '{"a":1}')
    chmodSync(target, 0o640)
    mkdirSync(dirname(pathOf(runner)), { recursive: true })
    symlinkSync(target, pathOf(runner))
    await hooks().install(runner)
    expect(lstatSync(pathOf(runner)).isSymbolicLink()).toBe(true)
    expect(statSync(target).mode & 0o777).toBe(0o640)
    expect(ours(runner)).toBe(expected(runner))
    await hooks().uninstall(runner)
    expect(readFileSync(target, 'utf8')).toBe('{"a":1}')
    expect(lstatSync(pathOf(runner)).isSymbolicLink()).toBe(true)
  })

  it.each<[string, string | Buffer, RegExp]>([
    ['are cut off', '{"a": [1, 2', /^is not valid JSON \(line 1: /],
    ['have a comment without an end', '{\n/* "a": 1}', /line 2: a comment has no end/],
    ['are a list', '[]', /is no object/],
    ['have hooks that are none', '{\n"hooks": []}', /line 2: "hooks" is no object/],
    ['have an event that is none', '{"hooks":{"SessionStart":{}}}', /"SessionStart" is no list/],
    ['are two documents', '{}{}', /something follows the end/],
    ['are not UTF-8', Buffer.from('{"a":"\ud83d"}', 'utf16le'), /is not (UTF-8|valid JSON)/],
    ['are brackets alone', '['.repeat(100_000), /nested too deeply/],
  ])('that %s are refused in one line and left alone', async (_, content, because) => {
    put(runner, content)
    const before = filesOf(home)
    const report = await hooks().install(runner)
    expect(report.did).toBe('refused')
    expect(report.because).toMatch(because)
    expect(report.because).not.toContain('\n')
    expect(filesOf(home)).toEqual(before)
    if (typeof content === 'string' && !content.startsWith('{"hooks"') && !content.includes('"hooks": []'))
      expect((await hooks().uninstall(runner)).did).toBe('refused')
  })
})

it.each([
  ['a comment', '{ // mine\n  "model": "opus"\n}\n', true],
  ['a comma too many', '{"list": [1,]}', true],
  ['a byte order mark', '\ufeff{"model": "opus"}', false],
])('settings of Claude Code with %s: install and status say whether it reads them', async (_, text, isIgnored) => {
  const claude = tool('claude')
  put(claude, text)
  const reports = [await hooks().install(claude), hooks().status(claude), await hooks().install(claude)]
  expect(reports.map(({ because }) => because?.includes('ignores the whole file') ?? false)).toEqual(
    reports.map(() => isIgnored),
  )
  const gemini = tool('gemini')
  put(gemini, text)
  expect(await hooks().install(gemini)).not.toHaveProperty('because')
})

describe.each(TOOLS.filter(({ install }) => install?.kind === 'file'))('the plugin of $name', (runner) => {
  it('is there after install, gone after uninstall, and another file in its place is refused', async () => {
    const before = filesOf(home)
    expect((await hooks().install(runner)).did).toBe('installed')
    expect((await hooks().install(runner)).did).toBe('unchanged')
    expect((await hooks({ program: '/new/skein.js' }).install(runner)).did).toBe('updated')
    expect(hooks({ program: '/new/skein.js' }).status(runner).state).toBe('installed')
    expect((await hooks().uninstall(runner)).did).toBe('removed')
    expect(filesOf(home)).toEqual(before)
    put(runner, 'export default () => {}\n')
    expect(await hooks().install(runner)).toMatchObject({ did: 'refused', because: 'is not a file of Skein' })
    expect((await hooks().uninstall(runner)).did).toBe('absent')
    expect(readFileSync(pathOf(runner), 'utf8')).toBe('export default () => {}\n')
  })

  it('is valid JavaScript, and what its user changed in it is kept beside it', async () => {
    await hooks({ env: { SKEIN_HOME: '/a "b"' } }).install(runner)
    const copy = join(root, 'copy.mjs')
    writeFileSync(copy, readFileSync(pathOf(runner)))
    expect(spawnSync(process.execPath, ['--check', copy], { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    })
    writeFileSync(pathOf(runner), `${readFileSync(pathOf(runner), 'utf8')}// mine\n`)
    expect(await hooks().uninstall(runner)).toMatchObject({ did: 'removed', backup: `${pathOf(runner)}.skein-backup` })
    expect(readFileSync(`${pathOf(runner)}.skein-backup`, 'utf8')).toContain('// mine')
  })
})

it('any settings are the same after entries were put in and taken out', () => {
  const [claude] = IN_SETTINGS
  if (claude?.install?.kind !== 'settings') throw new Error('no settings')
  const { entry } = claude.install
  const value = fc.dictionary(fc.constantFrom('hooks2', 'a', 'SessionStart', 'é"\\'), fc.jsonValue({ maxDepth: 3 }))
  const theirHooks = fc.option(
    fc.dictionary(
      fc.constantFrom('SessionStart', 'Stop'),
      fc.array(fc.constant(THEIRS), { minLength: 1, maxLength: 2 }),
      { minKeys: 1 },
    ),
    { nil: undefined },
  )
  const space = fc.constantFrom(undefined, 2, '\t')
  fc.assert(
    fc.property(value, theirHooks, space, fc.boolean(), (settings, their, indent, isWindows) => {
      const all = { first: 1, ...settings, ...(their ? { hooks: their } : {}) }
      const text = JSON.stringify(all, undefined, indent).replaceAll('\n', isWindows ? '\r\n' : '\n')
      const put = new HookSettings(text).with('SessionStart', entry('x # skein-hooks'))
      expect(JSON.parse(put)).toMatchObject(JSON.parse(JSON.stringify(settings)))
      expect(new HookSettings(put).commandsOf('SessionStart', isInstalledHook)).toEqual(['x # skein-hooks'])
      expect(new HookSettings(put).without(isInstalledHook)).toBe(text)
    }),
  )
})

/** A home with the hooks of Claude Code installed, and what runs them as that program does. */
async function installed() {
  const context = contextOf([])
  const surroundings = { home, env: {}, zone: 'UTC' }
  const at = join(root, 'skein')
  const open = await openHome({ root: at, configFile: join(at, 'config.toml'), surroundings, context })
  const claude = tool('claude')
  const env = { SKEIN_HOME: at }
  await hooks({ node: process.execPath, program: SKEIN, spool: open.paths.spool, env }).install(claude)
  const settings = new HookSettings(readFileSync(pathOf(claude), 'utf8'))
  const socket = { path: join(root, 'tmux.sock') }
  const agents = openAgents({ home: open, context, environment: { home, env: {} }, socket, runners: RUNNERS })
  onTestFinished(async () => {
    await agents[Symbol.asyncDispose]()
    await open[Symbol.asyncDispose]()
  })
  const commandOf = (event: string): string => settings.commandsOf(event, isInstalledHook)[0] ?? ''
  const messageOf = (event: string, message: object): string =>
    JSON.stringify({ hook_event_name: event, session_id: SESSION, cwd: root, ...message })
  const run = (event: string, message: object, more: Record<string, string> = {}) => {
    const { status, stdout, stderr } = spawnSync('sh', ['-c', commandOf(event)], {
      ...{ input: messageOf(event, message), encoding: 'utf8' as const },
      env: { PATH: process.env.PATH, HOME: home, ...more },
    })
    return { status, stdout, stderr }
  }
  return { open, agents, run, commandOf, messageOf }
}

const SILENT = { status: 0, stdout: '', stderr: '' }

it('an installed hook records a session and its end; in a run of Skein it does nothing', async () => {
  const { open, agents, run } = await installed()
  expect(run('SessionStart', { source: 'startup' }, { SKEIN_RUN: 'run-1' })).toEqual(SILENT)
  expect(run('SessionEnd', { reason: 'other' }, { SKEIN_RUN: 'run-1' })).toEqual(SILENT)
  expect(await open.sessions.get(SESSION)).toBeUndefined()

  const { status, stdout } = run('SessionStart', { source: 'startup' })
  expect(status).toBe(0)
  expect(JSON.parse(stdout).hookSpecificOutput.additionalContext).toBe(
    `Skein: this session (${SESSION}) belongs to none of Skein's agents.`,
  )
  expect(await open.sessions.get(SESSION)).toMatchObject({ tool: 'claude', cwd: root })
  expect(run('SessionEnd', { reason: 'prompt_input_exit' })).toEqual(SILENT)
  await agents.list()
  expect(await open.sessions.get(SESSION)).toMatchObject({ outcome: 'exit', reason: 'prompt_input_exit' })
})

it('a session that its user runs as an agent ends when its hook says so, and the list says where it runs until then', async () => {
  const { open, agents, run } = await installed()
  await open.roster.add({ address: 'toast', tool: 'claude' })
  const { stdout } = run('SessionStart', { source: 'startup' }, { SKEIN_AGENT: 'toast' })
  expect(stdout).toContain('You are the agent toast')
  const outside = { status: 'stopped', reason: `its program runs outside of Skein, as process ${process.pid}` }
  expect(await agents.list()).toMatchObject([outside])
  expect(await open.sessions.get(SESSION)).not.toHaveProperty('outcome')
  run('SessionEnd', { reason: 'clear' }, { SKEIN_AGENT: 'toast' })
  expect((await agents.list())[0]).not.toHaveProperty('reason')
  expect(await open.sessions.get(SESSION)).toMatchObject({ agent: 'toast', outcome: 'clear' })
})

it('a session whose program is gone without a word is over', async () => {
  const { open, agents, commandOf, messageOf } = await installed()
  await open.roster.add({ address: 'toast', tool: 'claude' })
  // The program is a shell that runs the hook and waits; it is killed.
  const input = join(root, 'message')
  writeFileSync(input, messageOf('SessionStart', { source: 'startup' }))
  const env = { PATH: process.env.PATH, HOME: home, SKEIN_AGENT: 'toast', HOOK: commandOf('SessionStart') }
  const program = spawn('sh', ['-c', `sh -c "$HOOK" <'${input}' >/dev/null; sleep 1000 & wait`], { env })
  onTestFinished(() => void program.kill('SIGKILL'))
  await eventually(
    () => open.sessions.get(SESSION),
    (session) => session !== undefined,
  )
  expect((await agents.list())[0]?.reason).toContain(`process ${program.pid}`)
  expect(await open.sessions.get(SESSION)).not.toHaveProperty('outcome')
  const ended = once(program, 'exit')
  program.kill('SIGKILL')
  await ended
  expect((await agents.list())[0]).not.toHaveProperty('reason')
  expect(await open.sessions.get(SESSION)).toMatchObject({ outcome: 'exit', reason: 'its program has ended' })
})
