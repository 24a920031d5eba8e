import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { isObject, type JsonObject, listAt, objectAt } from '../src/tools/json-value.js'
import { ModelServer } from './model-server/model-server.js'
import { numberedPrompt, textFiles, writingTurns } from './numbered-turns.js'
import { Scratch } from './scratch.js'
import { Skein, until } from './skein.js'
import { sourceLog } from './source-log.js'
import { REAL_TOOLS } from './tools/index.js'

const AGENT = 'web/worker'
const TURNS = [1, 2, 3, 4, 5]
/** How each program is started so that it writes files without asking. */
const FREELY: Readonly<Record<string, readonly string[]>> = {
  claude: ['--arg=--permission-mode', '--arg=acceptEdits'],
  codex: ['--dangerous'],
  gemini: ['--dangerous'],
}
/** The prompts of the test in a request; Gemini CLI puts its own words before the first, opencode quotes them. */
const promptsIn = (prompts: readonly string[] = []): string[] =>
  prompts.flatMap((text) => /do number \d|and now\?|once more/.exec(text)?.[0] ?? [])

describe.each(REAL_TOOLS)('a session of $name $version', (tool) => {
  it('is forked at its second turn: exactly that conversation, exactly those files', async () => {
    await using server = await ModelServer.start({
      rules: [...writingTurns(TURNS), { when: /.*/, steps: [{ text: 'Gladly.' }] }],
    })
    using scratch = new Scratch(`fork-${tool.name}`)
    const skein = new Skein(scratch, tool.setUp(scratch, server))
    const started = await skein.run('start', '.', '--agent', AGENT, '--tool', tool.name, ...(FREELY[tool.name] ?? []))
    const session = String(objectAt(started, 'agent')?.session_id)
    await skein.listed(AGENT, { status: 'idle' }, 60_000)
    for (const turn of TURNS) {
      await skein.run('send', AGENT, numberedPrompt(turn), '--wait', '--timeout', '60s')
      expect(textFiles(scratch.project)).toEqual(TURNS.slice(0, turn).map((n) => `file-${n}.txt`))
    }

    const log = sourceLog(tool.name, scratch, session)
    // opencode writes a summary of the last turn beside it.
    let before = log.content()
    await until('the log is at rest', async () => {
      await sleep(1_000)
      const now = log.content()
      const isSame = now.equals(before)
      before = now
      return isSame
    })

    const spent = await costs(skein)
    expect(Object.keys(spent)).toEqual([session])

    // The snapshot of a turn is taken beside it.
    let forks: unknown
    await until('the second turn has its snapshot', async () => {
      const made = skein.run('fork', AGENT, '--turn', '2', '--prompt', 'and now?')
      const refused = made
        .then(({ forks: list }) => {
          forks = list
        })
        .catch((error: Error) => error)
      const error = await refused
      if (error && !error.message.includes('snapshot-not-found')) throw error
      return error === undefined
    })
    const [fork] = listAt({ forks }, 'forks').filter(isObject)
    expect(fork).toMatchObject({ conversation: 'cut', turns: 2, turn: 2, source_session_id: session, is_exact: true })
    const worktree = String(fork?.worktree)
    const address = String(objectAt(fork, 'agent')?.address)
    const asked = (): JsonObject | undefined =>
      server.requests.find(({ prompts }) => prompts.at(-1)?.includes('and now?')) as JsonObject | undefined
    await until(
      'the fork asks the model',
      () => asked() !== undefined,
      60_000,
      () => skein.run('output', address, '--screen').then((shown) => `${JSON.stringify(fork)}\n${String(shown.text)}`),
    )
    const told = promptsIn(asked()?.prompts as string[])
    expect(told).toEqual([numberedPrompt(1), numberedPrompt(2), 'and now?'])
    const digest = listAt(asked(), 'digest').join('\n')
    for (const turn of [1, 2]) expect(digest).toContain(`File ${turn} is written.`)
    for (const turn of [3, 4, 5]) expect(digest).not.toContain(`ile ${turn}`)
    expect(textFiles(worktree)).toEqual(['file-1.txt', 'file-2.txt'])
    expect(existsSync(join(worktree, 'README.md'))).toBe(true)
    expect(textFiles(scratch.project)).toEqual(TURNS.map((n) => `file-${n}.txt`))
    if (log.isDatabase) expect(log.content().toString().split('\n')).toEqual(before.toString().split('\n'))
    expect(log.content().equals(before)).toBe(true)
    expect(await skein.run('show', String(fork?.session))).toMatchObject({ forked_from: { session, turn: 2 } })

    const waiting = await waitsForNothing(skein, session, spent)
    await skein.run('restart', AGENT)
    expect(log.content().subarray(0, before.length).equals(before) || log.isDatabase).toBe(true)
    await skein.run('send', AGENT, 'once more', '--wait', '--timeout', '60s')
    const resumed = server.requests.findLast(({ prompts }) => prompts.at(-1)?.includes('once more'))
    expect(promptsIn(resumed?.prompts)).toEqual([...TURNS.map(numberedPrompt), 'once more'])
    if (!log.isDatabase) {
      // Without the log of its origin the fork goes on, and what the origin spent stays the origin's.
      const paid = (await costs(skein))[session]
      await skein.run('stop', AGENT)
      rmSync(log.path)
      await skein.run('restart', waiting)
      await skein.run('send', waiting, 'once more', '--wait', '--timeout', '60s')
      const alone = server.requests.findLast(({ prompts }) => prompts.at(-1)?.includes('once more'))
      expect(promptsIn(alone?.prompts)).toEqual([numberedPrompt(1), numberedPrompt(2), 'and now?', 'once more'])
      expect(await bySession(skein)).toMatchObject({ [session]: paid })
    }
    table.push([
      tool.name,
      `${told.length - 1} + the new one`,
      textFiles(worktree).join(' '),
      `${before.length} bytes ${log.isDatabase ? 'of rows ' : ''}identical`,
      `${promptsIn(resumed?.prompts).length - 1} + the new one`,
    ])
  }, 480_000)
})

/** What each session has cost, as the ledger and the logs tell it. */
async function costs(skein: Skein): Promise<Record<string, JsonObject>> {
  let found: Record<string, JsonObject> = {}
  await until('the ledger tells what the logs do', async () => {
    found = await bySession(skein)
    return isDeepStrictEqual(found, await bySession(skein, '--no-index'))
  })
  return found
}

async function bySession(skein: Skein, ...options: string[]): Promise<Record<string, JsonObject>> {
  const { rows } = await skein.run('cost', '--by', 'session', ...options)
  return Object.fromEntries(
    listAt({ rows }, 'rows')
      .filter(isObject)
      .map((row) => [String(row.key), row]),
  )
}

/** A fork costs nothing while it waits, and its own turns once it has spoken; what it copied was paid for by its origin. */
async function waitsForNothing(skein: Skein, session: string, spent: Record<string, JsonObject>): Promise<string> {
  const { forks } = await skein.run('fork', AGENT, '--turn', '2', '--name', 'waiting')
  const [fork] = listAt({ forks }, 'forks').filter(isObject)
  const own = String(fork?.session)
  const address = String(objectAt(fork, 'agent')?.address)
  await skein.listed(address, { status: 'idle' }, 60_000)
  const waiting = await costs(skein)
  expect(waiting[session]).toEqual(spent[session])
  expect(waiting[own]).toBeUndefined()
  const turnsOf = async (): Promise<JsonObject[]> => listAt(await skein.run('turns', own), 'turns').filter(isObject)
  expect((await turnsOf()).map(({ copied, cost_micro_usd }) => [copied, cost_micro_usd])).toEqual([
    [true, undefined],
    [true, undefined],
  ])
  expect(await skein.run('show', own)).toMatchObject({ forked_from: { session, turn: 2 }, branch: fork?.branch })
  await skein.run('send', address, 'and now?', '--wait', '--timeout', '60s')
  const spoken = await costs(skein)
  expect(spoken[session]).toEqual(spent[session])
  expect(Number(spoken[own]?.calls)).toBeGreaterThan(0)
  expect(Number(spoken[own]?.calls)).toBeLessThanOrEqual(2)
  expect((await turnsOf()).map(({ copied }) => copied)).toEqual([true, true, false])
  expect(await skein.run('show', own)).toMatchObject({ branch: fork?.branch })
  return address
}

const table = [['tool', 'prompts at the model', 'files', 'original log', 'prompts when the original resumes']]
afterAll(() => console.log(table.map((row) => `| ${row.join(' | ')} |`).join('\n')))
