import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeEach, describe, expect, it } from 'vitest'
import { scratch } from '../home/scratch.js'
import { BINARY, environmentIn, run } from './binary.js'

const SESSION = '5a3c1c52-7a0e-4c55-9d0f-0c6f4f6f2a10'
const OTHER = '6b3c1c52-7a0e-4c55-9d0f-0c6f4f6f2a11'
const SECRET = 'sk-ant-api03-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4'
let path: string

beforeEach(() => {
  path = scratch()
})

const typed = (args: string[], { input = '', env = {} as Record<string, string> } = {}) =>
  run(BINARY, args, { env: environmentIn(path, env), input, cwd: path })
const json = async (args: string[], options?: Parameters<typeof typed>[1]) => {
  const { stdout, stderr, exitCode } = await typed([...args, '--json'], options)
  if (exitCode !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}
const called = (call: string, command: string, more: object = {}): string =>
  JSON.stringify({
    ...{ hook_event_name: 'PostToolUse', session_id: SESSION, cwd: path, tool_name: 'Bash', tool_use_id: call },
    ...{ tool_input: { command }, tool_response: { stdout: 'done' }, ...more },
  })
const callsOf = async (session: string): Promise<[string, string][]> =>
  (await json(['tools', session])).tool_calls.map((one: { id: string; name: string }) => [one.id, one.name])

describe('a tool call that a hook reports', () => {
  it('is one event without its secrets, and stays visible in a session without a log', async () => {
    const event = await json(['session', 'log-tool'], {
      input: called('t1', `curl -H 'x-api-key: ${SECRET}' http://x`),
    })
    expect(event).toMatchObject({ type: 'tool_called', session: SESSION, payload: { call: 't1', tool: 'Bash' } })
    await json(['session', 'log-tool'], { input: called('t1', 'told twice') })
    await json(['session', 'log-tool', '--tool', 'Read'], {
      input: called('t2', 'ls', { tool_response: { is_error: true } }),
    })
    await json(['session', 'end', SESSION, '--outcome', 'crash'])
    expect(await callsOf(SESSION)).toEqual([
      ['t1', 'Bash'],
      ['t2', 'Read'],
    ])
    const { tool_calls } = await json(['tools', SESSION])
    expect(tool_calls.map((one: { success: boolean }) => one.success)).toEqual([true, false])
    const home = join(path, 'home')
    const files = readdirSync(home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    for (const file of files) expect(readFileSync(join(file.parentPath, file.name), 'latin1')).not.toContain(SECRET)
  })

  it('is replaced by the record of the log, so that nothing counts twice', async () => {
    await json(['session', 'log-tool'], { input: called('t1', 'ls') })
    expect(await callsOf(SESSION)).toEqual([['t1', 'Bash']])
    const project = join(path, '.claude', 'projects', '-p')
    mkdirSync(project, { recursive: true })
    const entry = (uuid: string, parentUuid: string | null, type: string, message: object): string =>
      JSON.stringify({
        type,
        uuid,
        parentUuid,
        sessionId: SESSION,
        cwd: path,
        timestamp: '2026-01-17T01:00:00.000Z',
        message,
      })
    const usage = { input_tokens: 1, output_tokens: 1, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 }
    const call = { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } }
    const result = { type: 'tool_result', tool_use_id: 't1', content: 'a file' }
    const lines = [
      entry('u1', null, 'user', { role: 'user', content: 'list it' }),
      entry('u2', 'u1', 'assistant', { id: 'm1', role: 'assistant', model: 'claude-opus-5-5', content: [call], usage }),
      entry('u3', 'u2', 'user', { role: 'user', content: [result] }),
    ]
    writeFileSync(join(project, `${SESSION}.jsonl`), `${lines.join('\n')}\n`)
    await json(['ingest'])
    const { tool_calls } = await json(['tools', SESSION])
    expect(tool_calls).toHaveLength(1)
    expect(tool_calls[0]).toMatchObject({ id: 't1', turn: 1 })
    expect((await json(['turns', SESSION])).turns).toHaveLength(1)
  })

  it('belongs to the session of the option, else of the message, else of the environment, else it is a new one', async () => {
    const env = { CLAUDE_CODE_SESSION_ID: 'from-environment' }
    const bare = '{"tool_name":"Bash"}'
    const session = async (args: string[], options: Parameters<typeof typed>[1]) =>
      (await json(['session', 'log-tool', ...args], options)).session
    expect(await session(['--session', OTHER], { input: called('t1', 'ls'), env })).toBe(OTHER)
    expect(await session([], { input: called('t1', 'ls'), env })).toBe(SESSION)
    expect(await session([], { input: bare, env })).toBe('from-environment')
    const begun = await session([], { input: bare })
    expect(begun).toMatch(/^[0-9a-f-]{36}$/)
    expect(await callsOf(begun)).toHaveLength(1)
    expect(await typed(['session', 'log-tool'], { input: 'garbage' })).toMatchObject({ exitCode: 2 })
    expect(await typed(['session', 'log-tool', '--session', SESSION], { input: 'garbage' })).toMatchObject({
      exitCode: 2,
    })
    expect(await typed(['session', 'log-tool', '--session', SESSION])).toMatchObject({ exitCode: 2 })
  })
})

const message = (id: string): string => JSON.stringify({ hook_event_name: 'SessionStart', session_id: id })

describe('a session that a script starts', () => {
  it('has the id of the option, else of the hook, else of the environment while that is not recorded, else a new one', async () => {
    const env = { CLAUDE_SESSION_ID: 'from-environment' }
    const id = async (args: string[], input = '') => (await json(['session', 'start', ...args], { env, input })).id
    expect(await id(['--id', OTHER], message(SESSION))).toBe(OTHER)
    expect(await id([], message(SESSION))).toBe(SESSION)
    expect(await id(['--hook'], message('by-a-hook'))).toBe('by-a-hook')
    expect(await id([], 'no JSON')).toBe('from-environment')
    expect(await id([])).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe.each([
  ['session start', 'skein session start', (text: string) => text.trim().split('\n')],
  ['prime', 'skein prime --json', (text: string) => text.match(/(?<="session": ")[^"]*/g) ?? []],
])('standard input of %s', (_name, command, ids) => {
  const ran = async (line: string) => {
    const { stdout, stderr, exitCode } = await run('sh', ['-c', line], { env: environmentIn(path), cwd: path })
    expect([stderr, exitCode]).toEqual(['', 0])
    return ids(stdout)
  }
  const list = (): void => writeFileSync(join(path, 'list'), `${['one', 'two', 'three'].map(message).join('\n')}\n`)

  it('is read when it is a message in a pipe or in a file', async () => {
    writeFileSync(join(path, 'file'), message('from-a-file'))
    expect(await ran(`printf '%s' '${message('from-a-pipe')}' | ${command}`)).toEqual(['from-a-pipe'])
    expect(await ran(`${command} < file`)).toEqual(['from-a-file'])
  })

  it('stays where it is when the shell reads it as well: the lines of a loop, the rest of a script', async () => {
    list()
    for (const loop of [
      `cat list | while read -r line; do ${command} > /dev/null; echo line >> read; done`,
      `while read -r line; do ${command} > /dev/null; echo line >> read; done < list`,
      `printf '${command} > /dev/null\necho line >> read\necho line >> read\necho line >> read\n' | sh`,
    ]) {
      await ran(loop)
      expect(readFileSync(join(path, 'read'), 'utf8')).toBe('line\nline\nline\n')
      writeFileSync(join(path, 'read'), '')
    }
  })

  it('that is closed, a device, or a pipe in which nothing ever comes is no message', async () => {
    for (const line of [`${command} <&-`, `${command} < /dev/null`]) {
      const child = spawn('sh', ['-c', line], {
        env: environmentIn(path),
        cwd: path,
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      expect((await text(child.stdout)).trim()).not.toBe('')
    }
    const child = spawn('sh', ['-c', `exec ${command}`], {
      env: environmentIn(path),
      cwd: path,
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    expect((await text(child.stdout)).trim()).not.toBe('') // and its input is open still
    child.stdin.destroy()
  })
})
