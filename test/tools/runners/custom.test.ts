import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseSessionId } from '../../../src/model/index.js'
import { capturedSession, parseCustomTools, RUNNERS, resumeCaptured, runnersFor } from '../../../src/tools/index.js'
import { ID, messageOf, scratchLaunches } from './launch.js'

const BUILT_IN = RUNNERS.map((runner) => runner.name)
const VIBE = {
  command: `vibe --say "two words"`,
  icon: '♪',
  busy_patterns: ['executing', 're:^running (tool|test)'],
  prompt_patterns: ['approve?', '[y/n]'],
  detect_patterns: ['mistral vibe'],
  resume_flag: '--resume',
  session_id_env: 'VIBE_SESSION_ID',
  session_id_json_path: '.result.session_id',
  output_format_flag: '--output-format json',
  dangerous_flag: '--auto-approve',
}
const parse = (tools: Record<string, unknown>) => parseCustomTools(tools, '/cfg/config.toml', BUILT_IN)
const runners = (tools: Record<string, unknown>) => runnersFor({ custom: parse(tools), patterns: [] })
const vibe = (over: object = {}) => runners({ vibe: { ...VIBE, ...over } }).named('vibe')
const screen = (...lines: string[]) => ({ lines, title: '', width: 80 })

describe('starting a tool of the user', () => {
  it('anew: first a run that tells the id, then one that resumes it', () => {
    using scratch = scratchLaunches()
    const { argv, capture } = vibe().prepare(scratch.launch({ args: ['--x'] }))
    expect(argv).toEqual(['vibe', '--say', 'two words', '--x'])
    expect(capture).toEqual({
      argv: ['vibe', '--say', 'two words', '--output-format', 'json', '.'],
      jsonPath: '.result.session_id',
      resume: ['vibe', '--say', 'two words', '--resume', '{session}', '--x'],
      env: 'VIBE_SESSION_ID',
    })
    if (!capture) throw new Error('nothing to capture')
    expect(resumeCaptured(capture, parseSessionId('abc-1'))).toEqual([
      'vibe',
      '--say',
      'two words',
      '--resume',
      'abc-1',
      '--x',
    ])
  })

  it('again: with its flag and its variable', () => {
    using scratch = scratchLaunches()
    const { argv, env, capture } = vibe().prepare(scratch.launch({ kind: 'resume' }))
    expect(argv).toEqual(['vibe', '--say', 'two words', '--resume', ID])
    expect(env).toEqual({ VIBE_SESSION_ID: ID })
    expect(capture).toBeUndefined()
  })

  it('without questions, where the configuration or the user says so', () => {
    using scratch = scratchLaunches()
    const of = (over: object, dangerous?: boolean) =>
      vibe(over).prepare(scratch.launch({ kind: 'resume', ...(dangerous === undefined ? {} : { dangerous }) })).argv
    expect(of({})).not.toContain('--auto-approve')
    expect(of({}, true)).toContain('--auto-approve')
    expect(of({ dangerous_mode: true })).toContain('--auto-approve')
    expect(of({ dangerous_mode: true }, false)).not.toContain('--auto-approve')
  })

  it('with variables from a file and from the table, which wins', () => {
    using scratch = scratchLaunches()
    writeFileSync(join(scratch.home, 'v.env'), '# keys\nexport A=1\nB="two words"\n\nC=$(id)\n')
    const { env } = vibe({ env_file: '~/v.env', env: { A: '9' } }).prepare(scratch.launch())
    expect(env).toEqual({ A: '9', B: 'two words', C: '$(id)' })
    writeFileSync(join(scratch.home, 'v.env'), 'A=1\nnonsense\n')
    expect(() => vibe({ env_file: '~/v.env' }).prepare(scratch.launch())).toThrow(/v\.env:2 is not NAME=value/)
    expect(() => vibe({ env_file: 'none.env' }).prepare(scratch.launch())).toThrow(
      '/cfg/none.env, named by tools.vibe.env_file, cannot be read: ENOENT',
    )
  })

  it('as another tool under a different command', () => {
    using scratch = scratchLaunches()
    const team = runners({
      team: { command: '/opt/team/claude-wrapper', compatible_with: 'claude', env: { TEAM: 'a' } },
    }).named('team')
    const prepared = team.prepare(scratch.launch())
    expect(prepared.argv.slice(0, 3)).toEqual(['/opt/team/claude-wrapper', '--session-id', ID])
    expect(prepared.env).toMatchObject({ TEAM: 'a' })
    expect(team).toMatchObject({ name: 'team', can: { chooseId: 'flag', fork: true } })
    expect(team.isProcess('claude-wrapper') && team.isProcess('claude') && !team.isProcess('bash')).toBe(true)
    const hook = { hook_event_name: 'Stop', session_id: ID }
    expect(team.readMessage(messageOf('team', hook))?.evidence?.status).toBe('idle')
  })

  it('a program that nothing describes is run by a command of its agent, and is never a shell in its place', () => {
    using scratch = scratchLaunches()
    const custom = runners({}).named('custom')
    expect(custom.prepare({ ...scratch.launch(), command: ['muse', '-x'] }).argv).toEqual(['muse', '-x'])
    expect(() => custom.prepare(scratch.launch())).toThrow(/runs the agent's own command, and there is none/)
  })

  it('a table for one of our tools changes that tool', () => {
    using scratch = scratchLaunches()
    const all = runners({ claude: { command: 'claude-beta', busy_patterns: ['re:^Crunching'] } })
    expect(all.all.map((runner) => runner.name)).toEqual([...BUILT_IN, 'custom'])
    expect(all.named('claude').prepare(scratch.launch()).argv[0]).toBe('claude-beta')
    expect(all.named('claude').readScreen(screen('Crunching numbers')).rule).toBe('claude/busy_patterns[0]@1')
  })
})

describe('what the capturing run printed', () => {
  const capture = { argv: ['x'], resume: ['x'], jsonPath: '.result.items[0].id' } as const
  it.each([
    ['{"result":{"items":[{"id":"s-1"}]}}', 's-1'],
    ['warming up\n{"type":"start"}\n{"result":{"items":[{"id":"s-2"}]}}\nbye\n', 's-2'],
    ['{"result":{"items":[]}}', undefined],
    ['{"result":{"items":[{"id":"../../x"}]}}', undefined],
    ['{"result":{"items":[{"id":7}]}}', undefined],
    ['', undefined],
    ['null', undefined],
  ])('%j tells %s', (printed, id) => {
    expect(capturedSession(capture, printed)).toBe(id)
  })

  it('knows no way out of the document', () => {
    expect(capturedSession({ ...capture, jsonPath: '.constructor.name' }, '{}')).toBeUndefined()
  })
})

describe('the screen of a tool of the user', () => {
  it.each([
    [['EXECUTING step 3'], 'running', 'vibe/busy_patterns[0]@1'],
    [['running test 4'], 'running', 'vibe/busy_patterns[1]@1'],
    [['executing', 'Approve? [Y/N]'], 'waiting', 'vibe/prompt_patterns[0]@1'],
    [['Mistral Vibe 1.0', '> '], 'idle', 'vibe/detect_patterns[0]@1'],
    [['approveX'], 'unknown', undefined],
    [['not running tool'], 'unknown', undefined],
  ])('%j is %s', (lines, status, rule) => {
    const reading = vibe().readScreen(screen(...lines))
    expect({ status: reading.status, rule: reading.rule }).toEqual({ status, rule })
  })
})

describe('a pattern that ends with spaces, which a terminal does not say', () => {
  it.each([
    ['> ', ['>'], 'idle'],
    ['> ', ['> fix it'], 'idle'],
    ['> ', ['a->b'], 'unknown'],
    ['re:^> $', ['>'], 'idle'],
    ['re:^> $', ['> fix it'], 'unknown'],
    ['re:^>\\s+$', ['>'], 'idle'],
    ['re:^\\$ ?$', ['$'], 'idle'],
  ])('%j on %j is %s', (pattern, lines, status) => {
    const all = runners({ mate: { command: 'mate', idle_patterns: [pattern] } })
    expect(all.named('mate').readScreen(screen(...lines)).status).toBe(status)
  })
})

describe('mistakes in the configuration are named', () => {
  it.each([
    [{ Vibe: VIBE }, 'tools.Vibe in /cfg/config.toml is not a valid tool name'],
    [{ vibe: { ...VIBE, comand: 'x' } }, 'tools.vibe.comand in /cfg/config.toml is not a known key'],
    [{ vibe: { icon: 'x' } }, 'tools.vibe.command in /cfg/config.toml is missing'],
    [{ vibe: { command: '' } }, 'tools.vibe.command in /cfg/config.toml is empty or not a string'],
    [{ vibe: { command: 'a "b' } }, 'tools.vibe.command in /cfg/config.toml has an unclosed quote'],
    [{ vibe: { command: 'a\nb' } }, 'tools.vibe.command in /cfg/config.toml contains a control character'],
    [{ vibe: { command: 'x', busy_patterns: 'y' } }, 'tools.vibe.busy_patterns in /cfg/config.toml is not a list'],
    [
      { vibe: { command: 'x', busy_patterns: ['re:(a+)+'] } },
      'tools.vibe.busy_patterns[0] in /cfg/config.toml cannot be used',
    ],
    [
      { vibe: { ...VIBE, resume_flag: undefined } },
      'tools.vibe.output_format_flag in /cfg/config.toml needs resume_flag',
    ],
    [
      { vibe: { command: 'x', dangerous_mode: true } },
      'tools.vibe.dangerous_mode in /cfg/config.toml needs dangerous_flag',
    ],
    [{ vibe: { command: 'x', compatible_with: 'claud' } }, 'tools.vibe.compatible_with in /cfg/config.toml is "claud"'],
    [
      { vibe: { ...VIBE, session_id_json_path: 'session id' } },
      'tools.vibe.session_id_json_path in /cfg/config.toml is not a JSON path',
    ],
    [
      { vibe: { ...VIBE, session_id_env: 'A-B' } },
      'tools.vibe.session_id_env in /cfg/config.toml is not a variable name',
    ],
    [{ vibe: { command: 'x', env: { 'A B': '1' } } }, 'tools.vibe.env.A B in /cfg/config.toml is not a variable name'],
    [{ vibe: 'claude' }, 'tools.vibe in /cfg/config.toml is not a table'],
  ])('%#', (tools, message) => {
    expect(() => parse(tools)).toThrow(message)
  })

  it('an unknown tool is answered with those there are', () => {
    expect(() => runners({ vibe: VIBE }).named('vibr')).toThrow('There is no tool called "vibr"')
  })
})
