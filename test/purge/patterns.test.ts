import { appendFileSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openTestHome, scratch } from '../home/scratch.js'
import { EVERYTHING, fillHome, LATER, logOf, NOW, OTHER, SESSION, stateOf, turn, whereIs } from '../home/worded-home.js'

describe('purging by pattern and path', () => {
  it('takes out what fits, and keeps it out', async () => {
    const root = scratch()
    const home = await fillHome(root, 'ACME-123456')
    onTestFinished(() => home[Symbol.asyncDispose]())
    const before = await stateOf(home)
    expect((await home.privacy.purge({ pattern: 'ACME-\\d{6}' })).proof).toMatchObject({ left: [] })
    appendFileSync(logOf(root, OTHER), turn(OTHER, 2, { prompt: 'see ACME-654321', command: 'ls', result: '' }))
    await home.history.ingest()
    expect([...whereIs(root, 'ACME-123456'), ...whereIs(root, 'ACME-654321')]).toEqual([])
    expect(await home.index.check()).toMatchObject({ ok: true })
    expect(JSON.stringify(await stateOf(home))).toContain(JSON.stringify((before as { agents: unknown }).agents))
  })

  it.each([
    ['a log that goes on', NOW.ms],
    ['a log that is over', LATER.ms],
  ])('nothing is left where two texts that lie side by side fit a pattern together: %s', async (_, nowMs) => {
    const root = scratch()
    writeFileSync(join(root, 'privacy.yaml'), EVERYTHING)
    const long = 'long enough to lie among the words '
    writeFileSync(
      logOf(root, SESSION),
      turn(SESSION, 1, { prompt: `${long}ACME-123456`, command: 'ls', result: `${long}ACME-12` }) +
        turn(SESSION, 2, { prompt: `9999 ${long}`, command: 'ls', result: 'narwhal' }),
    )
    const { home } = await openTestHome(root, { ms: nowMs })
    onTestFinished(() => home[Symbol.asyncDispose]())
    await home.history.ingest()
    const report = await home.privacy.purge({ pattern: 'ACME-\\d{5,}' })
    expect(report.count).toBeGreaterThan(0)
    expect(report.proof).toMatchObject({ left: [], unreadable: [] })
  })

  it('a pattern that takes too long on a log of a tool is refused before anything is changed', async () => {
    const root = scratch()
    const home = await fillHome(root, 'ACME-123456')
    onTestFinished(() => home[Symbol.asyncDispose]())
    // Not ingested yet: only the tool's log has it.
    appendFileSync(logOf(root, OTHER), turn(OTHER, 2, { prompt: 'a'.repeat(5_000), command: 'ls', result: '' }))
    for (const dryRun of [true, false])
      await expect(home.privacy.purge({ pattern: '(?:a|a)+b', dryRun })).rejects.toMatchObject({ code: 'bad-input' })
    expect(existsSync(join(root, 'purged.json'))).toBe(false)
  })

  it('a pattern that fits ids and times takes out words and leaves the records whole', async () => {
    const root = scratch()
    const home = await fillHome(root, '2026-11-14')
    onTestFinished(() => home[Symbol.asyncDispose]())
    const before = await stateOf(home)
    const { proof } = await home.privacy.purge({ pattern: '\\d{4}-\\d\\d-\\d\\d' })
    expect(proof?.left.length).toBeGreaterThan(0)
    expect(existsSync(join(root, 'purge-unfinished'))).toBe(true)
    await home.privacy.purge({ resume: true, accept: true })
    expect(existsSync(join(root, 'purge-unfinished'))).toBe(false)
    expect(await stateOf(home)).toEqual(before)
    expect((await home.sessions.get('first'))?.title).toBe('Fix [PURGED]')
    expect(await home.index.check()).toMatchObject({ ok: true })
  })

  it('a path goes with what tools did to it', async () => {
    const root = scratch()
    writeFileSync(join(root, 'privacy.yaml'), EVERYTHING)
    const command = 'cat secrets/prod.env'
    writeFileSync(
      logOf(root, SESSION),
      turn(SESSION, 1, { prompt: 'look at secrets/prod.env please', command, result: 'flamingo' }) +
        turn(SESSION, 2, { prompt: 'go on', command: 'ls', result: 'pelican' }),
    )
    const { home } = await openTestHome(root, NOW)
    onTestFinished(() => home[Symbol.asyncDispose]())
    await home.history.ingest()
    expect((await home.privacy.purge({ path: 'secrets/*.env' })).proof).toMatchObject({ left: [] })
    const found = async (text: string): Promise<number> => (await home.history.search({ text })).hits.length
    expect([await found('flamingo'), await found('pelican'), await found('please')]).toEqual([0, 1, 1])
    // The call is read before its result was written.
    const [asked, called, answered] = turn(SESSION, 3, { prompt: 'again', command, result: 'flamingo' }).split('\n')
    appendFileSync(logOf(root, SESSION), `${asked}\n${called}\n`)
    await home.history.ingest()
    appendFileSync(logOf(root, SESSION), `${answered}\n`)
    await home.history.ingest()
    expect([await found('flamingo'), await found('again')]).toEqual([0, 1])
    expect([...whereIs(root, 'secrets/prod.env'), ...whereIs(root, 'flamingo')]).toEqual([])
  })
})

describe('purging a session', () => {
  it('leaves nothing of it but what it spent, until it is asked for by force', async () => {
    const root = scratch()
    const home = await fillHome(root, 'Wombat-4242-burrow')
    onTestFinished(() => home[Symbol.asyncDispose]())
    const spent = (await home.history.cost()).total
    expect((await home.archive.list()).map(({ session }) => session)).toContain(SESSION)
    expect((await home.privacy.purge({ session: '33333333' })).proof).toMatchObject({ left: [] })
    expect((await home.archive.list()).map(({ session }) => session)).not.toContain(SESSION)
    await home.history.ingest()
    expect(await home.sessions.get(SESSION)).toBeUndefined()
    expect(await home.events.read({ session: SESSION })).toEqual([])
    expect((await home.history.search({ text: 'walrus' })).hits).toEqual([])
    expect((await home.history.search({ text: 'octopus' })).hits).toHaveLength(1)
    expect((await home.history.cost()).total).toEqual(spent)
    expect(await home.index.check()).toMatchObject({ ok: true })

    expect((await home.privacy.purge({ session: 'first' })).proof).toMatchObject({ left: [] })
    expect((await home.sessions.get('second'))?.parent_id).toBe('first')
    expect(await home.index.check()).toMatchObject({ ok: true })

    await home.history.ingest({ session: SESSION, force: true })
    expect((await home.history.search({ text: 'walrus' })).hits).toHaveLength(1)
    expect((await home.sessions.get(SESSION))?.tool).toBe('claude')
  })
})
