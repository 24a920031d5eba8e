import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { openHome } from '../../src/home/index.js'
import { Spool } from '../../src/journal/index.js'
import { AgentRuns } from '../../src/lifecycle/agent-runs.js'
import type { Parts } from '../../src/lifecycle/parts.js'
import { observe } from '../../src/lifecycle/status/observe.js'
import { answer } from '../../src/lifecycle/talk/answer.js'
import { type Context, instantOf, parseSessionId, SkeinError } from '../../src/model/index.js'
import type { PaneId } from '../../src/terminal/index.js'
import { scratch } from '../home/scratch.js'
import { contextOf } from './context.js'
import {
  type Moment,
  QUESTION,
  type ScriptedDialog,
  ScriptedProgram,
  seen as seenAs,
  TOOL,
} from './scripted-program.js'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

/** Lets the time of the program pass until it is done; only its waits are faked. */
async function passing<T>(work: Promise<T>): Promise<T> {
  let isDone = false
  const end = (): void => {
    isDone = true
  }
  work.then(end, end)
  while (!isDone) {
    await vi.advanceTimersByTimeAsync(25)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return work
}

const START = Date.UTC(2026, 10, 16)
const nowMs = (): number => START + Math.floor(performance.now())

/** A home with one agent that runs the scripted program. */
async function stage(dialogs: readonly ScriptedDialog[], moments: readonly Moment[], drops: number) {
  const root = scratch()
  const context: Context = { ...contextOf([]), clock: { now: nowMs } }
  const surroundings = { home: root, env: {}, zone: 'UTC' }
  const home = await openHome({ root, configFile: `${root}/config.toml`, surroundings, context })
  const agent = await home.roster.add({ address: 'toast', tool: TOOL.name, project_path: root })
  const runs = new AgentRuns(home, context)
  const spool = new Spool(home.paths.spool)
  spool.prepare()
  const at = instantOf(nowMs())
  const run = { id: 'run-1', socket: { path: `${root}/s` }, tmux_session: 's', pane: '%1' as PaneId, pid: process.pid }
  await runs.update(agent, () => ({
    next: {
      v: 1,
      agent: agent.id,
      recipe: { tool: TOOL.name, cwd: root },
      run: { ...run, started_at: at, port: 1, how: 'new' },
      status: { status: 'starting', since: at, source: 'process' },
    },
    result: undefined,
  }))
  const place = { agent: agent.id, run: 'run-1', spool: spool.directory, nowMs }
  const script = (function* () {
    yield* moments
    for (;;) yield 'nothing' as const
  })()
  const program = new ScriptedProgram(dialogs, script, drops, place)
  const look = async () => ({
    kind: 'panes',
    panes: new Map((await program.terminal.panes()).map((one) => [one.pane, one])),
    serverPid: 1,
  })
  const terminals = { of: async () => program.terminal, look }
  const parts = {
    ...{ home, context, runs, spool, runners: [TOOL], defaultTool: TOOL.name },
    ...{ environment: { home: root, env: {} }, socket: { path: `${root}/s` }, terminals },
  } as unknown as Parts
  return { home, agent, parts, program }
}

const dialog = fc.record<ScriptedDialog>({
  command: fc.constantFrom(
    ...['ls', 'ls; rm -rf ~', 'rm -rf /tmp/x', 'rm -rf / tmp/x', 'make'],
    ...['echo a rm b', 'echo a\nrm b', "rm 'a b'", "rm 'a  b'", 'rm -rf ./b', 'rm -rf .\u200b/b'],
  ),
  isShown: fc.boolean(),
  isLoose: fc.constantFrom(false, false, true),
  hook: fc.constantFrom('before', 'before', 'late', 'never'),
})
const moment = fc.constantFrom<Moment>('nothing', 'nothing', 'nothing', 'hook', 'answered in the pane')
const step = fc.record({
  /** Looks before it is answered: what a user does who reads, thinks, and types. */
  looks: fc.integer({ min: 0, max: 2 }),
  /** Which of all the tokens that were ever shown is given; none gives none. */
  token: fc.option(fc.nat({ max: 9 }), { freq: 3 }),
  decision: fc.constantFrom('allow', 'deny'),
})

it('no sequence of dialogs lets a token or an approval act on a request other than the one it named', {
  timeout: 180_000,
}, async () => {
  const tally = { answered: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(dialog, { minLength: 1, maxLength: 4, selector: ({ command }) => command }),
      fc.array(moment, { maxLength: 60 }),
      fc.integer({ min: 0, max: 1 }),
      fc.array(step, { minLength: 1, maxLength: 4 }),
      async (dialogs, moments, drops, steps) => {
        const { home, agent, parts, program } = await passing(stage(dialogs, moments, drops))
        /** Every token that was ever shown, with what was shown with it, and the dialog that was on the screen. */
        const shown: { token: string; what: string; dialog: number | undefined }[] = []
        const see = async (): Promise<void> => {
          const [seen] = await passing(observe(parts, new Set([agent.id])))
          for (const { token, what } of seen?.verdict?.status.asks ?? [])
            if (what !== undefined) shown.push({ token, what, dialog: program.read })
        }
        for (const { looks, token: which, decision } of steps) {
          for (let look = 0; look <= looks; look += 1) await see()
          const named = which === null ? undefined : shown[which % Math.max(shown.length, 1)]
          const before = program.answers.length
          const done = await passing(answer(parts, agent, { decision }, named?.token)).catch((error: unknown) => {
            if (!(error instanceof SkeinError)) throw error
            return undefined
          })
          const given = program.answers.slice(before)
          tally[done ? 'answered' : 'refused'] += 1
          // One answer at most, with what was wanted, to what the token was shown with.
          expect(given.length).toBeLessThanOrEqual(1)
          for (const { dialog: at, label } of given) {
            expect(label).toBe(decision === 'allow' ? 'Yes' : 'No')
            if (named) expect(isNamed(dialogs, named, at), `${JSON.stringify(named)} was given to ${at}`).toBe(true)
          }
          // What is recorded as answered is what was answered.
          const [event] = done ? await passing(home.events.read({ type: 'agent_answered', last: 1 })) : []
          const what = given[0] && dialogs[given[0].dialog]
          const asShown = what?.isShown ? seenAs(what.command) : QUESTION
          if (event && what) expect([what.command, asShown]).toContain(event.payload.what)
        }
        await passing(Promise.resolve(home[Symbol.asyncDispose]()))
      },
    ),
    { seed: 20261116, numRuns: 150 },
  )
  expect(tally.answered).toBeGreaterThan(20)
  expect(tally.refused).toBeGreaterThan(20)
})

it('the token of the only question is taken, whenever its hook comes', { timeout: 300_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom<ScriptedDialog['hook']>('before', 'late', 'never'),
      fc.array(fc.constantFrom<Moment>('nothing', 'nothing', 'hook'), { maxLength: 12 }),
      async (hook, moments) => {
        const { home, agent, parts, program } = await passing(
          stage([{ command: 'ls', isShown: true, hook }], moments, 0),
        )
        const [seen] = await passing(observe(parts, new Set([agent.id])))
        await passing(answer(parts, agent, { decision: 'allow' }, seen?.verdict?.status.token))
        expect(program.answers).toEqual([{ dialog: 0, label: 'Yes' }])
        await passing(Promise.resolve(home[Symbol.asyncDispose]()))
      },
    ),
    { numRuns: 60 },
  )
})

it('what is asked is shown with its token by the first look after the registry says that it asks', async () => {
  const dialogs: ScriptedDialog[] = [{ command: 'ls', isShown: true, hook: 'never', undrawnFor: 9 }]
  const { agent, parts, program } = await passing(stage(dialogs, [], 0))
  const evidence = { source: 'registry', at: instantOf(nowMs()), status: 'waiting', waiting_for: 'permission' } as const
  const session = parseSessionId('3f0e5a52-8f6b-4c44-9f0e-0f8f3f8f1a11')
  const directory = scratch()
  const registry = { directory: () => directory, read: () => ({ pid: process.pid, session, evidence }) }
  writeFileSync(join(directory, `${process.pid}.json`), '{}')
  const asking = { ...parts, runners: [{ ...TOOL, registry }] } as unknown as Parts
  const [seen] = await passing(observe(asking, new Set([agent.id])))
  expect(seen?.verdict?.status.asks).toMatchObject([
    { what: expect.stringContaining('ls'), options: expect.anything() },
  ])
  await passing(answer(asking, agent, { decision: 'allow' }, seen?.verdict?.status.token))
  expect(program.answers).toEqual([{ dialog: 0, label: 'Yes' }])
})

/** Two requests that are told apart by little. Each has its dialog after the other's. */
const TWINS: readonly (readonly [string, string])[] = [
  ['echo a rm b', 'echo a\nrm b'],
  ["rm 'a b'", "rm 'a  b'"],
  ['for x in a\n  rm x\nrm b', 'for x in a\n  rm x\n  rm b'],
  ['rm -rf ./b', 'rm -rf .\u200b/b'],
]
const HOOKS = ['before', 'late', 'never'] as const

it.each(TWINS)('the token that was shown with %j is not given to %j', { timeout: 120_000 }, async (first, second) => {
  let answered = 0
  for (const hook of HOOKS) {
    for (const next of HOOKS) {
      // What neither its screen nor its hook tells apart is the same to everyone.
      if (seenAs(first) === seenAs(second) && hook !== 'before' && next !== 'before') continue
      for (let goesOnAt = 0; goesOnAt < 12; goesOnAt += 2) {
        const moments: Moment[] = Array.from({ length: goesOnAt }, () => 'nothing')
        const dialogs: ScriptedDialog[] = [
          { command: first, isShown: true, hook },
          { command: second, isShown: true, hook: next },
        ]
        const { home, agent, parts, program } = await passing(
          stage(dialogs, [...moments, 'answered in the pane', 'hook'], 0),
        )
        const [seen] = await passing(observe(parts, new Set([agent.id])))
        const shown = program.read
        const { token } = seen?.verdict?.status ?? {}
        await passing(answer(parts, agent, { decision: 'allow' }, token)).catch((error: unknown) => {
          if (!(error instanceof SkeinError)) throw error
        })
        answered += program.answers.length
        const label = 'Yes'
        if (program.answers.length > 0)
          expect(program.answers, `${hook} ${next} ${goesOnAt}`).toEqual([{ dialog: shown, label }])
        await passing(Promise.resolve(home[Symbol.asyncDispose]()))
      }
    }
  }
  expect(answered).toBeGreaterThan(0)
})

it('a permission that nobody has seen yet is not given by an answer to nothing in particular', async () => {
  const undrawn = { undrawnFor: 2, undrawnAs: 'Loading' }
  const dialogs: ScriptedDialog[] = [{ command: 'rm -rf ~', isShown: true, hook: 'never', ...undrawn }]
  const { agent, parts, program } = await passing(stage(dialogs, [], 0))
  await expect(passing(answer(parts, agent, { decision: 'allow' }))).rejects.toThrow(/nothing was chosen/)
  expect(program.answers).toEqual([])
  await passing(answer(parts, agent, { decision: 'allow' }))
  expect(program.answers).toEqual([{ dialog: 0, label: 'Yes' }])
})

it('a request that names nothing on the screen is not said to be what another dialog asks', async () => {
  const dialogs: ScriptedDialog[] = [
    { command: 'look at the weather', isShown: false, isLoose: true, hook: 'before', undrawnFor: 1 },
    { command: 'rm -rf ~', isShown: true, hook: 'never' },
  ]
  const { agent, parts } = await passing(stage(dialogs, ['answered unseen'], 0))
  const [seen] = await passing(observe(parts, new Set([agent.id])))
  expect(seen?.verdict?.status.asks?.[0]).toMatchObject({ what: 'rm -rf ~' })
})

/**
 * Whether the token that was shown with this may act on a dialog: on the very command; where none was shown, on the very dialog, except that
 * nothing tells dialogs apart that neither show their command nor report it.
 */
function isNamed(dialogs: readonly ScriptedDialog[], named: { what: string; dialog: number | undefined }, at: number) {
  const given = dialogs[at]
  if (named.what !== QUESTION) return given?.command === named.what || isSeenAs(dialogs, named, at)
  return given?.isShown === false && (named.dialog === at || (isSilent(given) && isSilent(dialogs[named.dialog ?? at])))
}

/** Shown by its screen alone, it is what a terminal shows; and nothing tells two apart that are seen as the same and tell nothing. */
function isSeenAs(dialogs: readonly ScriptedDialog[], named: { what: string; dialog: number | undefined }, at: number) {
  const given = dialogs[at]
  if (given?.isShown !== true || named.dialog === undefined || seenAs(given.command) !== named.what) return false
  return named.dialog === at || (isSilent(given) && isSilent(dialogs[named.dialog]))
}

const isSilent = (dialog: ScriptedDialog | undefined): boolean => dialog?.hook !== 'before'
