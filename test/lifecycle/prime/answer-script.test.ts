import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, it } from 'vitest'
import { FileLock } from '../../../src/disk/index.js'
import { openHome } from '../../../src/home/index.js'
import { AgentRuns } from '../../../src/lifecycle/index.js'
import { type Answering, hookAnswer, hookFiles } from '../../../src/lifecycle/prime/hook-run.js'
import { type Agent, instantOf } from '../../../src/model/index.js'
import { lateHookLine } from '../../../src/tools/gemini/gemini-late-answer.js'
import type { Launch } from '../../../src/tools/index.js'
import { hookLine } from '../../../src/tools/run/hook-line.js'
import { scratch } from '../../home/scratch.js'
import { contextOf } from '../context.js'

const SKEIN = fileURLToPath(new URL('../../../bin/skein.js', import.meta.url))
const SESSION = '11111111-1111-4111-8111-111111111111'
const MESSAGE = JSON.stringify({ hook_event_name: 'SessionStart', session_id: SESSION, source: 'startup', cwd: '/tmp' })

let root: string
let spool: string
let directory: string
let agent: Agent

beforeEach(async () => {
  root = scratch()
  const context = contextOf([])
  const surroundings = { home: root, env: {}, zone: 'UTC' }
  await using home = await openHome({ root, configFile: join(root, 'config.toml'), surroundings, context })
  agent = await home.roster.add({ address: 'web/toast', tool: 'claude' })
  spool = home.paths.spool
  directory = join(home.paths.agents, agent.id, 'run-1')
  await new AgentRuns(home, context).update(agent, () => ({
    next: {
      v: 1,
      agent: agent.id,
      recipe: { tool: 'claude', cwd: '/tmp' },
      status: { status: 'stopped', since: instantOf(0), source: 'process' },
    },
    result: undefined,
  }))
  for (const one of [spool, directory]) mkdirSync(one, { recursive: true })
})

/** The line that a hook is configured with, and its files, as a run of this agent has them. */
function line(event: string, answering: Partial<Answering> = {}, lineOf = hookLine): string {
  const asks = { node: process.execPath, program: SKEIN, root, configFile: join(root, 'config.toml'), ...answering }
  const answer = hookAnswer(directory, asks)
  const launch = { directory, agent: agent.id, spool: { directory: spool, run: 'run-1', command: 'true', answer } }
  for (const { path, content } of hookFiles(launch as unknown as Launch, asks, { profile: 'default', tool: 'claude' }))
    writeFileSync(path, content)
  return lineOf(launch.spool, event)
}

const ran = (command: string, input = MESSAGE) => {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], {
    input,
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  })
  return { status, stdout, stderr }
}
const reported = (): number => readdirSync(spool).filter((name) => name.endsWith('.msg')).length
const SILENT = { status: 0, stdout: '', stderr: '' }
const agentFile = (): { lock?: { pid: number; session: string } } =>
  JSON.parse(readFileSync(join(root, 'profiles/default/agents', `${agent.id}.json`), 'utf8'))

describe('the line of an answered hook', () => {
  it('reports to the spool, prints the answer, and gives the identity to the program that ran it', () => {
    const { status, stdout } = ran(line('SessionStart'))
    expect(status).toBe(0)
    expect(JSON.parse(stdout)).toEqual({
      hookSpecificOutput: {
        hookEventName: 'SessionStart',
        additionalContext: `Skein: You are the agent web/toast (session: ${SESSION}, directory: /tmp).\n\nNo work is on your hook. Wait for instructions.`,
      },
    })
    expect(reported()).toBe(1)
    const [name = ''] = readdirSync(spool)
    const [head = '', message] = readFileSync(join(spool, name), 'utf8').split('\n')
    expect(JSON.parse(head)).toMatchObject({ agent: agent.id, run: 'run-1', tool: 'claude', pid: process.pid })
    expect(message).toBe(MESSAGE)
    expect(agentFile().lock).toMatchObject({ pid: process.pid, session: SESSION })
  })

  it('reports an event that has no answer, and prints nothing', () => {
    expect(ran(line('PreCompact'))).toEqual(SILENT)
    expect(reported()).toBe(1)
    expect(line('UserPromptSubmit')).toBe('true')
  })

  it.each([
    ['nothing', ''],
    ['no JSON', 'garbage \u0000 {'],
    ['JSON of another kind', '[[["a"]]]'],
    ['a session that is none', '{"session_id":"../../etc","source":7,"cwd":"relative"}'],
  ])('bears %s on standard input', (_, input) => {
    const { status, stdout, stderr } = ran(line('SessionStart'), input)
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(JSON.parse(stdout).hookSpecificOutput.additionalContext).toContain('You are the agent web/toast')
  })
})

describe('in a resumed conversation of Gemini CLI', () => {
  it('the answer comes with the first prompt, once, because the program may drop what its SessionStart hook adds', () => {
    expect(ran(line('BeforeAgent', {}, lateHookLine))).toEqual(SILENT)
    expect(ran(line('SessionStart', {}, lateHookLine))).toEqual(SILENT)
    expect(reported()).toBe(1)
    const { stdout } = ran(line('BeforeAgent', {}, lateHookLine))
    expect(JSON.parse(stdout).hookSpecificOutput.additionalContext).toContain('You are the agent web/toast')
    expect(ran(line('BeforeAgent', {}, lateHookLine))).toEqual(SILENT)
    expect(readdirSync(directory).sort()).toEqual(['answer', 'hook.json'])
  })

  it('and nothing is printed when the files of the run are gone', () => {
    const commands = ['SessionStart', 'BeforeAgent'].map((event) => line(event, {}, lateHookLine))
    rmSync(directory, { recursive: true })
    for (const command of commands) expect(ran(command)).toEqual(SILENT)
  })
})

describe('an agent goes on, without an answer or a word,', () => {
  it('when the home is gone', () => {
    const command = line('SessionStart')
    rmSync(root, { recursive: true })
    expect(ran(command)).toEqual(SILENT)
    expect(existsSync(root)).toBe(false)
  })

  it('when the run is gone, or what it wrote for its hooks is damaged', () => {
    const command = line('SessionStart')
    writeFileSync(join(directory, 'hook.json'), '{"v":1,"root":')
    expect(ran(command)).toEqual(SILENT)
    rmSync(directory, { recursive: true })
    expect(ran(command)).toEqual(SILENT)
  })

  it('when Node or Skein is gone; its report arrives all the same', () => {
    expect(ran(line('SessionStart', { node: '/nowhere/node' }))).toEqual(SILENT)
    expect(ran(line('SessionStart', { program: '/nowhere/skein.js' }))).toEqual(SILENT)
    expect(reported()).toBe(2)
  })

  it('when Node is killed in the middle of its answer', () => {
    const node = join(root, 'node')
    writeFileSync(node, "#!/bin/sh\nprintf '{\"hookSpecific'\nkill -9 $$\n")
    chmodSync(node, 0o755)
    expect(ran(line('SessionStart', { node }))).toEqual(SILENT)
    expect(reported()).toBe(1)
  })

  it('when a newer Skein writes what it cannot read', () => {
    writeFileSync(join(root, 'profiles/default/agents', `${agent.id}.json`), '{"v":99}')
    const { status, stdout } = ran(line('SessionStart'))
    expect(status).toBe(0)
    expect(JSON.parse(stdout).hookSpecificOutput.additionalContext).toContain('written by a newer Skein')
  })
})

it('a hook answers although another process holds the agent, and leaves its file alone', async () => {
  using _held = await new FileLock(join(root, 'profiles/default/agents', `${agent.id}.state.lock`)).hold(1_000)
  const { status, stdout } = ran(line('SessionStart'))
  expect(status).toBe(0)
  expect(JSON.parse(stdout).hookSpecificOutput.additionalContext).toContain('You are the agent web/toast')
  expect(agentFile().lock).toBeUndefined()
})

it('a hook answers although the index is damaged', () => {
  for (const name of readdirSync(join(root, 'profiles/default')).filter((one) => one.startsWith('index-')))
    writeFileSync(join(root, 'profiles/default', name), 'no database')
  const { status, stdout } = ran(line('SessionStart'))
  expect(status).toBe(0)
  expect(JSON.parse(stdout).hookSpecificOutput.additionalContext).toContain('You are the agent web/toast')
})

it('a hook ends with 0 and valid output on a full disk', () => {
  const master = scratch()
  const command = line('SessionStart')
  cpSync(root, master, { recursive: true })
  // A file system of its own that is full, in a namespace that ends with the command.
  const script = `mount -t tmpfs -o size=4m none '${root}' && cp -a '${master}/.' '${root}' && dd if=/dev/zero of='${root}/fill' bs=4k 2>/dev/null; ${command}; echo "status $?"`
  const full = spawnSync('unshare', ['-rm', 'sh', '-c', script], { input: MESSAGE, encoding: 'utf8' })
  const lines = full.stdout.trim().split('\n')
  expect(lines.pop()).toBe('status 0')
  expect(full.stderr).toBe('')
  for (const one of lines) expect(JSON.parse(one)).toHaveProperty('hookSpecificOutput')
})

it('prime --hook answers although its input is never closed, is 100 MB long, or is no JSON', async () => {
  const prime = (...words: string[]) =>
    spawn(process.execPath, [SKEIN, 'prime', '--hook', ...words], {
      env: { PATH: process.env.PATH, HOME: root, SKEIN_HOME: root, SKEIN_AGENT: 'web/toast' },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
  const answered = async (program: ReturnType<typeof prime>): Promise<[string, number | null]> => {
    let said = ''
    program.stdout.on('data', (piece) => {
      said += piece
    })
    program.stdin.on('error', () => {}) // it need not be read to its end
    return new Promise((resolve) => program.on('close', (code) => resolve([said, code])))
  }
  const TOLD = [expect.stringContaining('You are the agent web/toast'), 0]
  const open = prime()
  open.stdin.write('{"hook_event_name":"SessionStart","session_id":"') // and never closed
  expect(await answered(open)).toEqual(TOLD)
  const silent = prime('--dry-run')
  expect(await answered(silent)).toEqual(TOLD)
  const long = prime()
  const telling = answered(long)
  const piece = Buffer.alloc(1024 * 1024, 'a')
  long.stdin.write('{"session_id":"')
  for (let written = 0; written < 100 && !long.stdin.destroyed; written += 1)
    if (!long.stdin.write(piece))
      await Promise.race([telling, new Promise((resolve) => long.stdin.once('drain', resolve))])
  expect(await telling).toEqual(TOLD)
  const odd = prime()
  odd.stdin.end('not JSON')
  expect(await answered(odd)).toEqual(TOLD)
})

it('prime says that the work could not be read when bd is missing or broken, and that there may be some', () => {
  mkdirSync(join(root, '.beads'))
  writeFileSync(join(root, '.beads', 'metadata.json'), '{}')
  const prime = (program: string): string => {
    const settings = `provider = "beads"\nbeads_dir = "${join(root, '.beads')}"\nbeads_program = "${program}"`
    writeFileSync(join(root, 'config.toml'), `[work]\n${settings}\n`)
    const env = { PATH: process.env.PATH, HOME: root, SKEIN_HOME: root, SKEIN_AGENT: 'web/toast' }
    const { status, stdout } = spawnSync(process.execPath, [SKEIN, 'prime', '--hook'], {
      input: MESSAGE,
      env,
      encoding: 'utf8',
    })
    expect(status).toBe(0)
    return stdout
  }
  const broken = join(root, 'bd')
  writeFileSync(broken, '#!/bin/sh\necho "database is corrupt" >&2\nexit 1\n', { mode: 0o755 })
  const WHY = { [join(root, 'no-bd')]: 'no-bd', [broken]: 'database is corrupt' }
  for (const [program, why] of Object.entries(WHY)) {
    const told = prime(program)
    expect(told).toContain('You are the agent web/toast')
    expect(told).toMatch(new RegExp(`Your work could not be read: .*${why}.* You may have some`))
    expect(told).toContain('skein work list --agent web/toast')
  }
})
