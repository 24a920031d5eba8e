import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../../src/cli/command-table.js'
import { GLOBAL_OPTIONS } from '../../src/cli/global-options.js'
import { everyCommand } from './every-command.js'
import { type } from './typed.js'
import { profilesUnder, scratch } from './world.js'

describe('help', () => {
  it('of bare skein in an empty home names every noun and is the same as --help and help', async () => {
    using at = scratch()
    const { stdout, exitCode } = await type([], { profiles: profilesUnder(at.path) })
    expect(exitCode).toBe(0)
    for (const noun of Object.keys(COMMANDS.entries)) expect(stdout).toContain(`\n  ${noun} `)
    expect((await type(['--help'])).stdout).toBe(stdout)
    expect((await type(['help'])).stdout).toBe(stdout)
  })

  it('of a noun lists its commands', async () => {
    const { stdout } = await type(['agents'])
    expect(stdout).toContain('\n  set-parent  Say which agent spawned another\n')
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

  it('tells the version', async () => {
    expect((await type(['--version'])).stdout).toBe('skein 1.2.3\n')
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
      expect({ name, twice: names.filter((one, at) => names.indexOf(one) !== at) }).toEqual({ name, twice: [] })
    }
  })
})

describe('bare skein', () => {
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
    expect(stdout).toContain(id)
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
