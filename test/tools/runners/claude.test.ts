import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { claudeRunner } from '../../../src/tools/claude/claude-runner.js'
import { fixture } from '../recorded-pane.js'
import { ID, messageOf, ORIGIN, scratchLaunches } from './launch.js'

const message = (payload: unknown) => messageOf('claude', payload)

describe('what the hooks of Claude Code say', () => {
  const expected: Record<string, unknown> = JSON.parse(fixture('claude', 'hooks', 'expected.json'))
  const payloads = readdirSync(new URL('../../fixtures/claude/hooks/', import.meta.url))
    .filter((name) => name !== 'expected.json')
    .map((name) => name.replace('.json', ''))

  it('every recorded payload has an expectation', () => {
    expect(payloads.sort()).toEqual(Object.keys(expected).sort())
  })

  it.each(payloads)('%s', (name) => {
    const payload: unknown = JSON.parse(fixture('claude', 'hooks', `${name}.json`))
    expect(claudeRunner.readMessage(message(payload)) ?? null).toEqual(expected[name])
  })

  it('a request and the result of the same call have one id; another turn has another', () => {
    const asked = JSON.parse(fixture('claude', 'hooks', 'PermissionRequest-Bash.json'))
    const done = { ...asked, hook_event_name: 'PostToolUse', tool_use_id: 'toolu_1', tool_response: {} }
    const request = claudeRunner.readMessage(message(asked))?.request?.id
    expect(claudeRunner.readMessage(message(done))?.settled).toBe(request)
    expect(claudeRunner.readMessage(message({ ...done, prompt_id: 'other' }))?.settled).not.toBe(request)
  })

  it('a page to fetch and the arguments of an MCP tool are named as their dialogs show them', () => {
    const asked = JSON.parse(fixture('claude', 'hooks', 'PermissionRequest-Bash.json'))
    const requestOf = (tool_name: string, tool_input: object) =>
      claudeRunner.readMessage(message({ ...asked, tool_name, tool_input }))?.request
    const url = 'https://example.com/a'
    expect(requestOf('WebFetch', { url, prompt: 'read it' })).toMatchObject({
      what: url,
      shows: [`url: ${url}\nprompt:`], // not the beginning of a longer one
    })
    const input = { command: 'ls', query: 'q', limit: 3, long: 'x'.repeat(200) }
    const request = requestOf('mcp__db__query', input)
    expect(request).toMatchObject({ shows: ['command: "ls"', 'query: "q"'] })
    expect(request?.what).toMatch(/^command: "ls"\nquery: "q"\nlimit: 3\nlong: "x+"$/)
    expect(request).not.toHaveProperty('exactly')
  })

  it('a plan is a wait of its own, and a session cron keeps the agent running', () => {
    const asked = JSON.parse(fixture('claude', 'hooks', 'PermissionRequest-Bash.json'))
    const plan = claudeRunner.readMessage(
      message({ ...asked, tool_name: 'ExitPlanMode', tool_input: { plan: '# Do it' } }),
    )
    expect(plan).toMatchObject({ evidence: { waiting_for: 'plan' }, request: { kind: 'plan', what: '# Do it' } })
    const stop = JSON.parse(fixture('claude', 'hooks', 'Stop.json'))
    expect(claudeRunner.readMessage(message({ ...stop, session_crons: [{ id: 'c' }] }))).toMatchObject({
      evidence: { status: 'running', reason: '1 scheduled prompt pending' },
      background: 1,
    })
  })

  it.each([
    ['authentication_failed', 'Invalid API key · Fix external API key', 'auth'],
    ['unknown', 'API Error: 401 invalid x-api-key', 'auth'],
    ['billing_error', '', 'usage-limit'],
    ['model_not_found', '', 'model-unavailable'],
    ['server_error', '', 'api-error'],
  ])('a turn that failed with %s (%s) is %s', (error, text, trouble) => {
    const failed = { hook_event_name: 'StopFailure', session_id: ID, error, last_assistant_message: text }
    expect(claudeRunner.readMessage(message(failed))?.evidence).toMatchObject({ status: 'error', trouble })
  })

  it.each([[undefined], [null], ['text'], [[]], [{}], [{ hook_event_name: 'Stop', session_id: '../../etc' }]])(
    'a payload like %j does no harm',
    (payload) => {
      expect(claudeRunner.readMessage(message(payload))?.identity).toBeUndefined()
    },
  )
})

describe('the registry of Claude Code', () => {
  const { registry } = claudeRunner
  it('tells who runs where and what it does', () => {
    expect(registry?.read(fixture('claude', 'registry', 'busy.json'))).toEqual({
      pid: 26287,
      processStart: 207345,
      session: '18181818-1818-4818-8818-181818181818',
      cwd: '/home/dev/src/claude/work/repo',
      pane: '%0',
      evidence: {
        source: 'registry',
        at: '2026-11-15T10:14:30.550Z',
        status: 'running',
        reason: 'its registry says busy',
        rule: 'registry:busy',
      },
    })
    expect(registry?.read(fixture('claude', 'registry', 'idle.json'))?.evidence.status).toBe('idle')
  })

  const entry = JSON.parse(fixture('claude', 'registry', 'idle.json'))
  it.each([
    ['waiting', 'permission prompt', 'waiting', 'permission'],
    ['waiting', 'input needed', 'waiting', 'question'],
    ['waiting', 'dialog open', 'waiting', 'question'],
    ['shell', undefined, 'running', undefined],
    ['dreaming', undefined, 'unknown', undefined],
    [undefined, undefined, 'starting', undefined],
  ])('%s (%s) is %s', (status, waitingFor, means, kind) => {
    const { evidence } = registry?.read(JSON.stringify({ ...entry, status, waitingFor })) ?? {}
    expect({ status: evidence?.status, kind: evidence?.waiting_for }).toEqual({ status: means, kind })
  })

  it('is silent about a claude -p, a torn file and things that are no entry', () => {
    const child = fixture('claude', 'registry', 'child-print.json')
    for (const text of [
      child,
      JSON.stringify({ ...entry, kind: 'print' }),
      '{"pid":1,',
      '[]',
      '{"kind":"interactive"}',
    ])
      expect(registry?.read(text)).toBeUndefined()
  })

  it('is where the configuration directory is', () => {
    expect(registry?.directory({ home: '/home/ada', env: {} })).toBe('/home/ada/.claude/sessions')
    expect(registry?.directory({ home: '/home/ada', env: { CLAUDE_CONFIG_DIR: '/cfg' } })).toBe('/cfg/sessions')
  })
})

describe('starting Claude Code', () => {
  const settings = '/run/skein/agent-1/claude-settings.json'
  function logOf(home: string, session: string): void {
    mkdirSync(join(home, '.claude', 'projects', '-srv-web'), { recursive: true })
    writeFileSync(join(home, '.claude', 'projects', '-srv-web', `${session}.jsonl`), '{}\n')
  }

  it('anew, with the id of our choice', () => {
    using scratch = scratchLaunches()
    const { argv, session } = claudeRunner.prepare(scratch.launch({ model: 'opus', args: ['--verbose'] }))
    expect(argv).toEqual(['claude', '--session-id', ID, '--settings', settings, '--model', 'opus', '--verbose'])
    expect(session).toBe(ID)
  })

  it('resumes a conversation that was written down, and begins again under the same id where nothing was said', () => {
    using scratch = scratchLaunches()
    const launch = scratch.launch({ kind: 'resume' })
    expect(claudeRunner.prepare(launch).argv.slice(1, 3)).toEqual(['--session-id', ID])
    logOf(scratch.home, ID)
    expect(claudeRunner.prepare(launch).argv.slice(1, 3)).toEqual(['--resume', ID])
  })

  it('forks into an id of our choice', () => {
    using scratch = scratchLaunches()
    const { argv } = claudeRunner.prepare(scratch.launch({ kind: 'fork', origin: ORIGIN }))
    expect(argv.slice(1, 6)).toEqual(['--resume', ORIGIN, '--fork-session', '--session-id', ID])
  })

  it('brings its hooks in a file of the run, and nothing secret on the command line', () => {
    using scratch = scratchLaunches()
    const { argv, files } = claudeRunner.prepare(scratch.launch())
    const written = JSON.parse(files[0]?.content ?? '')
    expect(files.map((file) => file.path)).toEqual([settings])
    expect(written.hooks.Stop[0].hooks[0]).toMatchObject({ type: 'command', command: `sh '/run/skein/put' "a b"` })
    expect(written).not.toHaveProperty('skipDangerousModePermissionPrompt')
    // Claude Code prints the command of each hook of these on its screen.
    expect(Object.keys(written.hooks).filter((event) => /Compact/.test(event))).toEqual([])
    expect(argv.join(' ')).not.toContain('not-for-arguments')
  })

  it('skips questions only where that is asked for', () => {
    using scratch = scratchLaunches()
    const { argv, files } = claudeRunner.prepare(scratch.launch({ dangerous: true }))
    expect(argv).toContain('--dangerously-skip-permissions')
    expect(JSON.parse(files[0]?.content ?? '')).toMatchObject({ skipDangerousModePermissionPrompt: true })
  })

  it('is no part of a surrounding Claude Code', () => {
    using scratch = scratchLaunches()
    const { env } = claudeRunner.prepare(scratch.launch())
    expect(Object.keys(env)).toEqual(expect.arrayContaining(['CLAUDECODE', 'CLAUDE_CODE_SESSION_ID', 'CLAUDE_PID']))
    expect(Object.values(env).every((value) => value === undefined)).toBe(true)
    expect(env).not.toHaveProperty('CLAUDE_CONFIG_DIR')
  })

  it('loads the named MCP servers, and no others', () => {
    using scratch = scratchLaunches()
    const servers = { files: { command: 'files' }, db: { command: 'db', env: { KEY: 'k' } } }
    writeFileSync(join(scratch.home, '.claude.json'), JSON.stringify({ mcpServers: servers }))
    const { argv, files } = claudeRunner.prepare(scratch.launch({ mcp: ['db'] }))
    expect(argv.slice(-3)).toEqual(['--strict-mcp-config', '--mcp-config', '/run/skein/agent-1/claude-mcp.json'])
    expect(JSON.parse(files[1]?.content ?? '')).toEqual({ mcpServers: { db: servers.db } })
    expect(() => claudeRunner.prepare(scratch.launch({ mcp: ['fils'] }))).toThrow(/no MCP server called "fils"/)
  })
})
