import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Environment, LOG_TOOLS, type Screen, type ToolRunner } from '../../src/tools/index.js'
import { ID, messageOf, ORIGIN, scratchLaunches } from '../tools/runners/launch.js'

/** What every runner is asked. A runner that cannot be asked something says why, as data. */
export const RUNNER_CASES = [
  'starts anew',
  'passes arguments whole',
  'keeps its secret off the command line',
  'chooses a model',
  'chooses its id',
  'goes on with a conversation',
  'does not fork what is not there',
  'skips its questions only when told to',
  'loads the MCP servers that are named',
  'is told where to report',
  'reads the messages of its program',
  'survives any message',
  'reads recorded screens',
  'survives any screen',
  'refuses what no program may be sent',
  'knows its own process',
  'knows its conversations',
  'has keys',
] as const
export type RunnerCase = (typeof RUNNER_CASES)[number]

export interface RunnerSkip {
  tool: string
  case: RunnerCase
  reason: string
}

export interface RunnerUnderTest {
  runner: ToolRunner
  /** The name of its program, as a process has it. */
  process: string
  /** Payloads that its program sent. */
  messages: readonly unknown[]
  screens: readonly { name: string; screen: Screen }[]
  /** Files of a home directory in which the MCP server `server-of-mine` is known. */
  mcpHome?: Readonly<Record<string, string>>
}

const EMPTY: Screen = { lines: [], title: '', width: 80 }
const ODD_PAYLOADS = [
  null,
  1,
  '',
  'x',
  [],
  {},
  { type: {} },
  { hook_event_name: 7 },
  { session_id: '../../etc' },
  [[[]]],
]
const ODD_SCREENS: readonly Screen[] = [
  EMPTY,
  { lines: ['\u001b[31m', '\0', '─'.repeat(500), '>'.repeat(200)], title: '\u0007', width: 1 },
  { lines: Array.from({ length: 400 }, (_, n) => `│ ${n} │`), title: 'x'.repeat(10_000), width: 0 },
]
const TEXT_STATUSES = ['starting', 'running', 'waiting', 'idle', 'error', 'unknown']

/** What every runner must do. Real programs are asked in `e2e/`. */
export function describeToolRunner(
  { runner, process, messages, screens, mcpHome = {} }: RunnerUnderTest,
  skips: readonly RunnerSkip[],
): void {
  const skipped = new Set(skips.filter(({ tool }) => tool === runner.name).map((skip) => skip.case))
  const check = (name: RunnerCase, body: () => Promise<void> | void): void => {
    if (!skipped.has(name)) it(name, body)
  }

  describe(`the runner of ${runner.name}`, () => {
    check('starts anew', () => {
      using scratch = scratchLaunches()
      const launch = scratch.launch()
      const { argv, files, links = [] } = runner.prepare(launch)
      expect(argv[0]).not.toBe('')
      for (const part of argv) expect(part).not.toMatch(/\0/)
      // Its own directory, or the tool's own place for logs.
      for (const { path } of [...files, ...links])
        expect(path.startsWith(`${launch.directory}/`) || path.startsWith(`${scratch.home}/`)).toBe(true)
      // Preparing changes nothing: it is carried out by whoever asked.
      expect(runner.prepare(launch)).toEqual(runner.prepare(launch))
    })

    check('passes arguments whole', () => {
      using scratch = scratchLaunches()
      const args = ['--flag', 'two words', "it's $(id)", '', '-']
      for (const kind of ['new', 'resume'] as const) {
        const { argv, capture } = runner.prepare(scratch.launch({ kind, args }))
        for (const line of [argv, ...(capture ? [capture.resume] : [])]) expect(line.slice(-args.length)).toEqual(args)
      }
    })

    check('keeps its secret off the command line', () => {
      using scratch = scratchLaunches()
      const { argv, capture } = runner.prepare(scratch.launch({ secret: 'hunter2-hunter2' }))
      expect([...argv, ...(capture?.argv ?? [])].join(' ')).not.toContain('hunter2')
    })

    check('chooses a model', () => {
      using scratch = scratchLaunches()
      const { argv } = runner.prepare(scratch.launch({ model: 'acme/large-3' }))
      expect(argv).toContain('acme/large-3')
    })

    check('chooses its id', () => {
      using scratch = scratchLaunches()
      const { session, argv, files, capture } = runner.prepare(scratch.launch())
      if (runner.can.chooseId === 'never')
        expect({ session, capture }).toEqual({ session: undefined, capture: undefined })
      else if (runner.can.chooseId === 'capture') {
        expect(session).toBeUndefined()
        expect(capture?.resume).toContain('{session}')
      } else {
        const spoken = [...argv, ...files.map(({ path }) => path)].join('\n')
        expect(session && spoken.includes(session)).toBe(true)
      }
      // Given twice it is the same: a start that is repeated does not become another conversation.
      expect(runner.prepare(scratch.launch()).session).toBe(session)
    })

    check('goes on with a conversation', () => {
      using scratch = scratchLaunches()
      const { session, argv, files, capture } = runner.prepare(scratch.launch({ kind: 'resume' }))
      expect(session).toBe(runner.prepare(scratch.launch({ kind: 'resume', session: session ?? ID })).session)
      expect(session && [...argv, ...files.map(({ path }) => path)].join('\n').includes(session)).toBe(true)
      expect(capture).toBeUndefined()
    })

    check('does not fork what is not there', () => {
      using scratch = scratchLaunches()
      const fork = (): string[] => [...runner.prepare(scratch.launch({ kind: 'fork', origin: ORIGIN })).argv]
      // The program is told the origin and says itself that it has none, or the start is refused, or it begins anew. Never the new id as an origin.
      try {
        expect(fork().join(' ')).not.toContain(`--resume ${ID}`)
      } catch (error) {
        expect(error).toMatchObject({ code: 'session-not-found' })
      }
    })

    check('skips its questions only when told to', () => {
      using scratch = scratchLaunches()
      const told = runner.prepare(scratch.launch({ dangerous: true }))
      const untold = runner.prepare(scratch.launch())
      expect(runner.prepare(scratch.launch({ dangerous: false }))).toEqual(untold)
      expect([told.argv, told.env, told.files, told.capture]).not.toEqual([
        untold.argv,
        untold.env,
        untold.files,
        untold.capture,
      ])
    })

    check('loads the MCP servers that are named', () => {
      using scratch = scratchLaunches()
      for (const [name, content] of Object.entries(mcpHome)) writeFileSync(join(scratch.home, name), content)
      const said = (mcp?: readonly string[]): string => {
        const { argv, files } = runner.prepare(scratch.launch(mcp ? { mcp } : {}))
        return [...argv, ...files.map(({ content }) => content)].join('\n')
      }
      expect(said()).not.toContain('server-of-mine')
      expect(said(['server-of-mine'])).toContain('server-of-mine')
    })

    check('is told where to report', () => {
      using scratch = scratchLaunches()
      const { spool } = scratch.launch()
      const { argv, env, files } = runner.prepare(scratch.launch())
      const said = [...argv, ...Object.values(env), ...files.map(({ content }) => content)].join('\n')
      const forms = [spool.command, JSON.stringify(spool.command).slice(1, -1), spool.directory]
      expect(forms.some((form) => said.includes(form))).toBe(true)
    })

    check('reads the messages of its program', () => {
      expect(messages.length).toBeGreaterThan(3)
      const reports = messages.flatMap((payload) => runner.readMessage(messageOf(runner.name, payload)) ?? [])
      expect(reports.length).toBeGreaterThan(0)
      const statuses = reports.flatMap(({ evidence }) => evidence?.status ?? [])
      expect(statuses).toEqual(expect.arrayContaining(['running', 'idle']))
      expect(reports.some(({ prompt }) => prompt !== undefined)).toBe(true)
      expect(reports.some(({ identity }) => identity !== undefined)).toBe(true)
      for (const { identity } of reports) if (identity) expect(identity.session).toMatch(/^[\w.:-]+$/)
    })

    check('survives any message', () => {
      for (const payload of ODD_PAYLOADS) {
        const report = runner.readMessage(messageOf(runner.name, payload))
        expect(report?.identity).toBeUndefined()
      }
    })

    check('reads recorded screens', () => {
      expect(screens.length).toBeGreaterThan(3)
      const statuses = screens.map(({ screen }) => runner.readScreen(screen).status)
      expect(statuses).toEqual(expect.arrayContaining(['idle', 'running']))
      if (runner.can.asks) expect(statuses).toContain('waiting')
    })

    check('survives any screen', () => {
      for (const screen of ODD_SCREENS) {
        expect(TEXT_STATUSES).toContain(runner.readScreen(screen).status)
        runner.readInput?.(screen)
        runner.readTitle(screen.title)
      }
      // An empty screen says nothing.
      expect(runner.readScreen(EMPTY).status).toBe('unknown')
      expect(runner.readTitle('')).toBeUndefined()
    })

    check('refuses what no program may be sent', () => {
      for (const text of ['', ' \n\t', 'a\u001b[A', 'a\u0003', '\u009b31m', 'a\0b']) {
        const checked = runner.checkText(text)
        expect(checked.kind).toBe('refused')
        if (checked.kind === 'refused') expect([checked.because, checked.next]).not.toContain('')
      }
      expect(runner.checkText('fix the login')).toEqual({ kind: 'ok', text: 'fix the login' })
      for (const sign of ['/quit', '!rm -rf x']) {
        const checked = runner.checkText(sign)
        if (checked.kind === 'ok') expect(checked.text).not.toBe(sign)
      }
    })

    check('knows its own process', () => {
      expect(runner.isProcess(process)).toBe(true)
      expect(runner.isProcess(`/usr/local/bin/${process}`)).toBe(true)
      for (const other of ['bash', 'sh', 'vim', '', `${process}-helper`]) expect(runner.isProcess(other)).toBe(false)
    })

    check('knows its conversations', async () => {
      using scratch = scratchLaunches()
      const environment: Environment = { home: scratch.home, env: {} }
      expect(await runner.hasConversation?.(ID, environment)).toBe(false)
    })

    check('has keys', () => {
      for (const keys of Object.values(runner.keys)) {
        expect(keys.length).toBeGreaterThan(0)
        for (const key of keys) expect(key).toMatch(/^(?:C-)?[A-Za-z]+$/)
      }
      expect([...runner.icon]).toHaveLength(1)
      expect(runner.can.tells || LOG_TOOLS.every(({ name }) => name !== runner.name)).toBe(true)
    })
  })
}
