import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, it } from 'vitest'
import { instantOf, parseSessionId } from '../src/model/index.js'
import { foldSession, LOG_TOOLS, writerOf } from '../src/tools/index.js'
import { asked, carried, expectSent, openScratchHome, piecesOf, promptsOf, recorded, SCRIPT } from './continued.js'
import { ModelServer } from './model-server/model-server.js'
import { PrintMode } from './print-mode.js'
import { Scratch } from './scratch.js'
import { REAL_TOOLS } from './tools/index.js'

const NAMES = REAL_TOOLS.map(({ name }) => name)
/** All 20 pairs with SKEIN_ALL_PAIRS; otherwise each program hands over to two others, and so takes over from two. */
const isWhole = process.env.SKEIN_ALL_PAIRS !== undefined

it.each(NAMES)(
  'a conversation of %s goes on in other programs',
  async (from) => {
    await using server = await ModelServer.start(SCRIPT)
    using scratch = new Scratch('continue')
    const programs = new PrintMode(scratch, server)
    const source = await recorded(programs, from)
    await using home = await openScratchHome(scratch, programs)
    await home.history.ingest()
    const at = NAMES.indexOf(from)
    const [one, two, ...rest] = [...NAMES.slice(at + 1), ...NAMES.slice(0, at)]
    // Two at a time: the programs are large, and machines small.
    await Promise.all(isWhole ? [carryInTurn([one, two]), carryInTurn(rest)] : [carryInTurn([one]), carryInTurn([two])])

    async function carryInTurn(targets: readonly (string | undefined)[]): Promise<void> {
      for (const to of targets) if (to) await carry(to)
    }

    async function carry(to: string): Promise<void> {
      const { session, turns, left_out } = await carried(home, programs, source, to, scratch.project)
      const expected = to === 'gemini' ? [{ what: 'tool calls, written as text', count: 1 }] : []
      expect({ to, turns, left_out }).toEqual({ to, turns: 3, left_out: expected })

      const prompt = `go on (${from} to ${to})`
      await programs.resume(to, session, prompt)
      const prompts = [...promptsOf(from), prompt]
      expectSent(asked(server.requests, prompt), prompts, [...piecesOf(from), prompt])

      const next = `once more (${from} to ${to})`
      await programs.resume(to, session, next)
      const live = [...piecesOf(from), prompt, 'I run it.', 'echo', 'live-42', 'It ran.', next]
      expectSent(asked(server.requests, next), [...prompts, next], live)
    }
  },
  300_000,
)

it('pi goes on behind turns that were interrupted or failed, and sends what was said in them', async () => {
  await using server = await ModelServer.start(SCRIPT)
  using scratch = new Scratch('continue-pi')
  const programs = new PrintMode(scratch, server)
  const session = parseSessionId('0d15ea5e-1111-4222-8333-444455556666')
  const turn = (number: number, outcome: 'aborted' | 'failed', said: string) => ({
    ...{ number, prompt: `prompt ${number}`, outcome, parts: [{ kind: 'text' as const, text: said }] },
    ...(outcome === 'failed' ? { error: 'overloaded' } : {}),
  })
  const turns = [turn(1, 'aborted', 'I had begun.'), turn(2, 'failed', 'I was about to.')]
  const target = { session, cwd: scratch.project, environment: programs.environment, now: instantOf(Date.now()) }
  const [file] = writerOf('pi').write({ tool: 'pi', session, turns, left_out: [] }, target).files
  if (!file) throw new Error('nothing was written')
  mkdirSync(dirname(file.path), { recursive: true })
  writeFileSync(file.path, file.content)
  await programs.resume('pi', session, 'once more')
  expectSent(
    asked(server.requests, 'once more'),
    ['prompt 1', 'prompt 2', 'once more'],
    ['prompt 1', 'I had begun.', 'prompt 2', 'I was about to.', 'once more'],
  )
  const pi = LOG_TOOLS.find(({ name }) => name === 'pi')
  const log = pi?.logAt(file.path)
  const outcomes = pi && log && foldSession([pi.read(log)]).turns.map(({ outcome }) => outcome)
  expect(outcomes).toEqual(['aborted', 'failed', 'completed'])
}, 300_000)
