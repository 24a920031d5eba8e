import { rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { LOG_TOOLS } from '../src/tools/index.js'
import { asked, expectSent, piecesOf, promptsOf, recorded, SCRIPT } from './continued.js'
import { type Logged, ModelServer } from './model-server/model-server.js'
import { PrintMode } from './print-mode.js'
import { Scratch } from './scratch.js'
import { Skein, until } from './skein.js'
import { REAL_TOOLS } from './tools/index.js'

const NAMES = REAL_TOOLS.map(({ name }) => name)

describe.each(NAMES)('%s', (tool) => {
  /** The tool before it in the list, of which it gets a conversation. */
  const other = NAMES[(NAMES.indexOf(tool) + 1) % NAMES.length] ?? ''

  it(`a session comes back from the archive after its log was deleted, and one of ${other} goes on in its window`, async () => {
    await using server = await ModelServer.start(SCRIPT)
    using scratch = new Scratch('resurrect')
    const programs = new PrintMode(scratch, server)
    const session = await recorded(programs, tool)
    const skein = new Skein(scratch, programs.env)
    await skein.run('ingest')
    deleteLog(programs, tool, session)
    expect(programs.sessions(tool)).not.toContain(session)

    const back = await skein.run('resurrect', session)
    expect(back).toMatchObject({ session: { id: session }, tool, turns: 3, from: 'archive' })
    const prompt = `go on (${tool} again)`
    await programs.resume(tool, session, prompt)
    expectSent(asked(server.requests, prompt), [...promptsOf(tool), prompt], [...piecesOf(tool), prompt])
    await expect(skein.run('resurrect', session)).rejects.toThrow(/needs no resurrection/)

    // In its window, with a conversation of another program: a live tool call, and a second resume.
    const foreign = await recorded(programs, other)
    await skein.run('ingest')
    const typed = `go on (in the window of ${tool})`
    const fork = ['--turn', '3', '--chat-only', '--tool', tool, '--name', 'window', '--prompt', typed]
    await skein.run('fork', foreign, ...fork)
    await until(
      'the live tool call has its result',
      async () => {
        const { waiting_for } = await skein.agent('window')
        if (waiting_for === 'permission' || waiting_for === 'question') await skein.run('approve', 'window')
        return ending(server.requests, typed, 1) !== undefined
      },
      120_000,
      () => skein.explained('window'),
    )
    expectInOrder(ending(server.requests, typed), [...promptsOf(other), typed], [...piecesOf(other), typed])
    await skein.listed('window', { status: 'waiting', waiting_for: 'finished' }, 60_000)
    await skein.run('restart', 'window')
    const next = `once more (in the window of ${tool})`
    await skein.run('send', 'window', next, '--wait', '--timeout', '90s')
    const live = [...piecesOf(other), typed, 'I run it.', 'echo', 'live-42', 'It ran.', next]
    expectInOrder(ending(server.requests, next), [...promptsOf(other), typed, next], live)
  }, 400_000)
})

/** The first request whose last prompt has these words; programs put contexts of their own beside them. */
const ending = (requests: readonly Logged[], words: string, round = 0): Logged | undefined =>
  requests.find((one) => one.prompts.at(-1)?.includes(words) && one.round === round)

const SCRIPTED = /(?:list the files|remember the word PELICAN|what is it|go on|once more) \([\w ]+\)/

function expectInOrder(request: Logged | undefined, prompts: readonly string[], pieces: readonly string[]): void {
  const scripted = request?.prompts.flatMap((prompt) => SCRIPTED.exec(prompt)?.[0] ?? []) ?? []
  expect(scripted).toEqual(prompts)
  if (request) expectSent({ ...request, prompts: scripted }, prompts, pieces)
}

/** As a program does that cleans up. The sessions of opencode are in one database, which goes with them. */
function deleteLog(programs: PrintMode, tool: string, session: string): void {
  const reader = LOG_TOOLS.find(({ name }) => name === tool)
  for (const log of reader?.discover(programs.environment) ?? []) {
    if ((log.session ?? reader?.identify(log).id) !== session) continue
    for (const end of ['', '-wal', '-shm']) rmSync(`${log.path}${end}`, { force: true })
  }
}
