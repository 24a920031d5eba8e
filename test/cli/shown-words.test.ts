import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { Random } from '../privacy/held-out/random.js'
import { type Typed, type } from './typed.js'
import { profilesUnder, scratch } from './world.js'

const SESSION = '5ec2e700-0000-4000-8000-000000000001'
const r = new Random(8_150)
const TOKEN = `ghp_${r.word(36)}`
const PASSWORD = `${r.word(6)}!x9-${r.word(4)}`
const KEY = r.word(40)
const coloured = (text: string): string => `\x1b[01;31m\x1b[K${text.slice(0, 4)}\x1b[m\x1b[K${text.slice(4)}`
const SECRETS = [TOKEN, TOKEN.slice(4), PASSWORD, KEY, KEY.slice(4)]

/** A conversation in which every speaker says a secret. */
function logOf(cwd: string): string {
  const line = (at: number, type: string, message: object, more: object = {}): string =>
    JSON.stringify({
      type,
      message,
      sessionId: SESSION,
      cwd,
      version: '2.1.325',
      uuid: `u${at}`,
      parentUuid: at === 0 ? null : `u${at - 1}`,
      timestamp: new Date(Date.parse('2026-01-17T09:00:00Z') + at * 1_000).toISOString(),
      ...more,
    })
  const said = (...content: object[]): object => ({ role: 'assistant', model: 'claude-opus-4-5', content })
  return [
    line(0, 'user', { role: 'user', content: `use the token ${TOKEN} please` }),
    line(1, 'assistant', said({ type: 'text', text: `I try password: "${PASSWORD}" first.` })),
    line(
      2,
      'assistant',
      said({ type: 'tool_use', id: 't1', name: 'Bash', input: { command: `API_KEY=${KEY} deploy` } }),
    ),
    line(3, 'user', {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't1', content: `API_KEY=${coloured(KEY)}` }],
    }),
    line(4, 'assistant', said({ type: 'text', text: `Done with ${coloured(TOKEN)}.` })),
    line(5, 'user', { role: 'user', content: 'and the second question' }),
    line(6, 'assistant', said({ type: 'text', text: 'the second answer' })),
    '',
  ].join('\n')
}

describe('what commands show of a session', () => {
  const world = scratch()
  const root = join(world.path, 'home')
  const skein = (line: string, more: Parameters<typeof type>[1] = {}): Promise<Typed> =>
    type(line.split(' '), { profiles: profilesUnder(root), cwd: world.path, now: Date.now, ...more })
  beforeAll(async () => {
    const project = join(world.path, 'shop')
    const logs = join(root, '.claude', 'projects', '-shop')
    for (const directory of [project, logs]) mkdirSync(directory, { recursive: true })
    writeFileSync(join(logs, `${SESSION}.jsonl`), logOf(project))
    expect((await skein('ingest')).exitCode).toBe(0)
    return () => world[Symbol.dispose]()
  })
  const onTerminal = async (line: string): Promise<string> => {
    let stdout = ''
    const written = { isTTY: true, columns: 200, write: (text: string) => (stdout += text) }
    const { exitCode } = await skein(line, { stdout: written })
    expect(exitCode).toBe(0)
    return stdout
  }

  it.each([
    'turns 5ec2e700',
    'turns 5ec2e700 --json',
    'turns 5ec2e700 --full',
    'turns 5ec2e700 --turn 1',
    'tools 5ec2e700',
    'tools 5ec2e700 --json',
    'show 5ec2e700',
    'show 5ec2e700 --json',
    'export 5ec2e700',
    'export 5ec2e700 --format html',
    'export 5ec2e700 --format json',
    'replay 5ec2e700',
    'search deploy',
    'search please --json',
    'sessions list --json',
    'events tail --json -n 100',
  ])('has no secret in it: skein %s', async (line) => {
    const { stdout, stderr, exitCode } = await skein(line)
    expect({ exitCode, stdout: stdout !== '' }).toEqual({ exitCode: 0, stdout: true })
    for (const secret of SECRETS) expect(stdout + stderr).not.toContain(secret)
    for (const secret of SECRETS) expect(await onTerminal(line)).not.toContain(secret)
  })

  it.each(['turns', 'tools'])('is unfiltered with --verbatim, on a terminal only: skein %s', async (name) => {
    const refused = await skein(`${name} 5ec2e700 --verbatim --json`)
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
    expect(refused.stderr).toContain('only to a terminal')
    expect(await onTerminal(`${name} 5ec2e700 --verbatim --json`)).toContain(KEY)
  })

  it('marks who speaks', async () => {
    const { stdout } = await skein('turns 5ec2e700 --turn 1')
    const speakers = stdout.split('\n').filter((line) => /^(?:you|claude|tools):/.test(line))
    expect(speakers).toEqual(['you:', 'claude:', 'tools: Bash', 'claude:'])
  })

  it('shows one turn, and says which there are when it has none of that number', async () => {
    const { stdout } = await skein('turns 5ec2e700 --turn 2')
    expect(stdout).toContain('the second answer')
    expect(stdout).not.toContain('please')
    const { turns } = JSON.parse((await skein('turns 5ec2e700 --turn 2 --json')).stdout)
    expect(turns.map((turn: { number: number }) => turn.number)).toEqual([2])
    expect(await skein('turns 5ec2e700 --turn 9')).toMatchObject({ exitCode: 2, stdout: '' })
  })

  it('a search leads to the turn, and names the directory', async () => {
    const { stdout } = await skein('search second')
    const [head = '', place = ''] = stdout.split('\n')
    expect(head).toContain(`skein turns ${SESSION} --turn 2`)
    expect(place).toContain(join(world.path, 'shop'))
    const command = /skein (turns \S+ --turn \d+)/.exec(head)?.[1] ?? ''
    expect((await skein(command)).stdout).toContain('second')
  })
})
