import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../../src/cli/command-table.js'
import { GLOBAL_OPTIONS } from '../../src/cli/global-options.js'
import { everyCommand } from './every-command.js'
import { type } from './typed.js'
import { profilesUnder, scratch } from './world.js'

describe('help', () => {
  it('names every command under one heading', async () => {
    const { stdout, exitCode } = await type(['--help'])
    expect(exitCode).toBe(0)
    const names = COMMANDS.headings?.flatMap((heading) => heading.names) ?? []
    expect([...names].sort()).toEqual(Object.keys(COMMANDS.entries).sort())
    for (const { title } of COMMANDS.headings ?? []) expect(stdout).toContain(`\n${title}:\n`)
    for (const name of names) expect(stdout).toMatch(new RegExp(`\n  ${name} +[A-Z]`))
    expect((await type(['help'])).stdout).toBe(stdout)
  })

  it('of a noun lists its commands', async () => {
    const { stdout } = await type(['agents'])
    expect(stdout).toContain('\n  set-parent  Set the agent that spawned another\n')
    expect((await type(['agents', '-h'])).stdout).toBe(stdout)
    expect((await type(['help', 'agents'])).stdout).toBe(stdout)
  })

  it('of a command wins over whatever else is wrong on the line', async () => {
    const { stdout, exitCode } = await type(['sessions', 'show', '--nope', '--help'])
    expect(exitCode).toBe(0)
    expect(stdout).toContain('Usage: skein sessions show <session> [options]')
    expect((await type(['help', 'sessions', 'show'])).stdout).toBe(stdout)
    expect((await type(['--json', 'sessions', '--profile', 'x', 'show', '-h'])).stdout).toBe(stdout)
  })

  it('of turns and of its verbs says how to name an agent that is named like a verb', async () => {
    for (const words of [['turns'], ['turns', 'note'], ['turns', 'pin'], ['turns', 'unpin']]) {
      const { stdout } = await type([...words, '--help'])
      expect(stdout.replace(/\s+/g, ' ')).toContain('write options before its name (skein turns --turn 2 pin)')
    }
  })

  it.each([40, 60, 100])('fits a screen of %i columns, but for lines that are there to be copied', async (columns) => {
    const pages = (await everyCommand()).map(({ name }) => [...name.split(' '), '--help'])
    for (const args of [['--help'], ['agents'], ...pages]) {
      const written: string[] = []
      const stdout = { isTTY: true, columns, write: (text: string) => written.push(text) }
      await type(['--no-color', ...args], { stdout })
      const [text = ''] = written.join('').split('\nExamples:')
      const long = text.split('\n').filter((line) => line.length > columns && line.trim().includes(' '))
      expect(long, args.join(' ')).toEqual([])
    }
  })

  it('is coloured only on a terminal that may be coloured', async () => {
    const written: string[] = []
    const stdout = { isTTY: true, columns: 80, write: (text: string) => written.push(text) }
    await type(['--help'], { stdout })
    await type(['--no-color', '--help'], { stdout })
    expect(written[0]).toContain('\x1b[1m')
    expect(written[1]).not.toContain('\x1b')
    expect((await type(['--help'])).stdout).not.toContain('\x1b')
  })

  it.each([['--version'], ['-V'], ['-v'], ['version']])('%s tells the version', async (word) => {
    expect((await type([word])).stdout).toBe('skein 1.2.3\n')
  })

  it('is the same for what people type out of habit', async () => {
    for (const [typed, meant] of [
      ['ls', 'list'],
      ['ps', 'list'],
    ] as const)
      expect(await type([typed, '--help'])).toEqual(await type([meant, '--help']))
    expect(await type(['sessions', 'ls', '--help'])).toEqual(await type(['sessions', 'list', '--help']))
    expect(await type(['archive', 'ls', '--help'])).toEqual(await type(['archive', 'list', '--help']))
    expect((await type(['ls', '--nope'])).stderr).toContain('See: skein list --help')
  })
})

describe('every command', () => {
  it('says the same in the table as in its own file', async () => {
    for (const { name, summary, command } of await everyCommand()) {
      expect({ name: command.name, summary: command.summary }).toEqual({ name, summary })
    }
  })

  it('has an example, a summary without a full stop, and a line about each input', async () => {
    for (const { command } of await everyCommand()) {
      expect(command.examples.length).toBeGreaterThan(0)
      expect(command.summary).toMatch(/^[A-Z].*[^.]$/)
      for (const input of Object.values({ ...command.args, ...command.options })) {
        expect(input.summary).toMatch(/^[A-Z].*([^.]| \.\.\.)$/)
      }
    }
  })

  it('gives each input one name that no other input, option or global option has', async () => {
    for (const { name, command } of await everyCommand()) {
      const options = Object.entries({ ...GLOBAL_OPTIONS, ...command.options })
      const names = [
        ...Object.keys(GLOBAL_OPTIONS),
        ...Object.keys(command.options),
        ...Object.keys(command.args),
        ...options.flatMap(([, input]) => [...(input.aliases ?? []), ...(input.short ? [input.short] : [])]),
      ]
      // As the programs that it is named after spell it; -p is the profile before the command's name.
      const own = name === 'seance talk' ? ['p'] : []
      expect({ name, twice: names.filter((one, at) => names.indexOf(one) !== at) }).toEqual({ name, twice: own })
    }
  })
})

describe('bare skein', () => {
  it('says in ten lines where it looked and how to begin, when there is nothing yet', async () => {
    using at = scratch()
    const world = { profiles: profilesUnder(at.path) }
    const { stdout, stderr, exitCode } = await type([], world)
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
    expect(stdout.trimEnd().split('\n').length).toBeLessThanOrEqual(10)
    for (const place of ['~/.claude', '~/.codex', '~/.gemini', 'opencode', '~/.pi']) expect(stdout).toContain(place)
    expect(stdout).toContain('skein start . --tool ')
    expect(await type(['--profile', 'default'], world)).toEqual(await type([], world))
    expect(JSON.parse((await type(['--json'], world)).stdout)).toMatchObject({ agents: [], sessions: [] })
    const written: string[] = []
    await type(['--no-color'], { ...world, stdout: { isTTY: true, columns: 80, write: (text) => written.push(text) } })
    expect(
      written
        .join('')
        .split('\n')
        .filter((line) => line.length > 80),
    ).toEqual([])
  })

  it('finds the logs of a machine that has no home yet, and shows sessions, spend and how to go on', async () => {
    using at = scratch()
    const project = join(at.path, '.claude', 'projects', '-srv-web')
    mkdirSync(project, { recursive: true })
    const log = new URL('../fixtures/claude/2.1.325/print-5turns-resumed.jsonl', import.meta.url)
    const id = /"sessionId":"([^"]+)"/.exec(readFileSync(log, 'utf8'))?.[1] ?? ''
    cpSync(log, join(project, `${id}.jsonl`))
    const { stdout, stderr, exitCode } = await type([], { profiles: profilesUnder(at.path), now: Date.now })
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
    expect(stdout).toContain('Found 1 session in 1 log.')
    expect(stdout).toMatch(new RegExp(`^${id.slice(0, 8)} .* turn one A$`, 'm')) // short, with what was asked first
    expect(stdout).toMatch(/Spent: .* in all/)
    expect(stdout).toContain('skein turns <id>')
    const again = await type(['--json'], { profiles: profilesUnder(at.path), now: Date.now })
    expect(JSON.parse(again.stdout)).toMatchObject({
      read: { read: 0 },
      sessions: [{ id, tool: 'claude', source: 'log' }],
    })
  })
})

it('the noun "sessions" may be left out', async () => {
  using at = scratch()
  const world = { profiles: profilesUnder(at.path), now: () => 0 }
  expect(await type(['find', 'x'], world)).toEqual(await type(['sessions', 'find', 'x'], world))
  expect((await type(['tree', '--help'])).stdout).toContain('Usage: skein sessions tree')
  expect(await type(['shw'])).toMatchObject({ exitCode: 2 })
})

describe('two spellings of one command', () => {
  it.each([
    ['session ingest', 'ingest'],
    ['session list', 'sessions list'],
    ['session show', 'sessions show'],
    ['sessions start', 'session start'],
    ['sessions end', 'session end'],
    ['tools list', 'tool list'],
    ['tools show', 'tool show'],
  ])('skein %s is skein %s', async (one, other) => {
    const [a, b] = await Promise.all([one, other].map((name) => type([...name.split(' '), '--help'])))
    expect(a?.stdout).not.toBe('')
    expect(a).toEqual(b)
  })
})
