import { rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { LOG_TOOLS, RUNNERS } from '../src/tools/index.js'
import { asked, carried, expectSent, openScratchHome, piecesOf, promptsOf, recorded, SCRIPT } from './continued.js'
import { ModelServer } from './model-server/model-server.js'
import { PrintMode } from './print-mode.js'
import { RealRun } from './run-tool.js'
import { Scratch } from './scratch.js'
import { Skein } from './skein.js'
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

    // In its window, with a conversation of another program.
    const foreign = await recorded(programs, other)
    await using home = await openScratchHome(scratch, programs)
    await home.history.ingest({ tool: other })
    const { session: carriedOver } = await carried(home, programs, foreign, tool, scratch.project)
    const runner = RUNNERS.find(({ name }) => name === tool)
    if (!runner) throw new Error(`no runner of ${tool}`)
    const run = await RealRun.start(scratch, runner, programs.env, { kind: 'resume', session: carriedOver })
    await run.ready()
    const typed = `what is it (in the window of ${tool})`
    await run.pane.submit(typed)
    await run.pane.until('the model was asked', () => asked(server.requests, typed) !== undefined)
    expectSent(asked(server.requests, typed), [...promptsOf(other), typed], [...piecesOf(other), typed])
    await run.pane.shows(/It flies\./)
  }, 300_000)
})

/** As a program does that cleans up. The sessions of opencode are in one database, which goes with them. */
function deleteLog(programs: PrintMode, tool: string, session: string): void {
  const reader = LOG_TOOLS.find(({ name }) => name === tool)
  for (const log of reader?.discover(programs.environment) ?? []) {
    if ((log.session ?? reader?.identify(log).id) !== session) continue
    for (const end of ['', '-wal', '-shm']) rmSync(`${log.path}${end}`, { force: true })
  }
}
