import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { feedOf } from '../../src/journal/index.js'
import { DAY_MS } from '../../src/model/index.js'
import { openTestHome, profileDirectory, scratch } from '../home/scratch.js'

describe('events', () => {
  it('that change state cannot be appended by hand; all others can, known or not', async () => {
    const { home } = await openTestHome(scratch())
    await expect(home.events.append({ type: 'session_end', session: 'x' })).rejects.toMatchObject({ code: 'bad-input' })
    await expect(home.events.append({ type: 'Bad Type' })).rejects.toMatchObject({ code: 'bad-input' })
    await home.events.append({ type: 'mail', payload: { to: 'web/kim', subject: 'hello' }, agent: 'web/kim' })
    await home.events.append({ type: 'build.failed', visibility: 'audit' })
    expect(await home.events.stats()).toMatchObject({
      events: 2,
      unknown_types: 1,
      by_type: { mail: 1, 'build.failed': 1 },
    })
    expect((await home.events.read({ feed: true })).map((event) => event.type)).toEqual(['mail'])
    expect((await home.events.read({ agent: 'web/kim' })).map((event) => event.type)).toEqual(['mail'])
    expect((await home.events.read({ last: 1 })).map((event) => event.type)).toEqual(['build.failed'])
    await home[Symbol.asyncDispose]()
  })

  it('keep no secret that a program puts into one', async () => {
    const root = scratch()
    const { home } = await openTestHome(root)
    const secret = `ghp_${'aB3dE5fG7h'.repeat(4).slice(0, 36)}`
    const payload = { body: `use ${secret}`, api_key: secret.slice(4), to: 'web/kim', n: 3 }
    const event = await home.events.append({ type: 'mail', payload })
    expect(event.payload).toEqual({
      ...{ body: 'use [REDACTED:github-token]', api_key: '[REDACTED:key]', to: 'web/kim', n: 3 },
    })
    const recipe = { tool: 'claude', cwd: '/srv', args: ['--api-key', 'sk-ant-api03-of-a-user'] }
    expect((await home.events.append({ type: 'agent_started', payload: { recipe } })).payload).toEqual({ recipe })
    await home[Symbol.asyncDispose]()
    expect(readFileSync(join(profileDirectory(root), 'events', '00000001.jsonl'), 'utf8')).not.toContain('aB3dE5fG7h')
  })

  it('are followed from the newest few, by a reader that shares nothing with the writer', async () => {
    const root = scratch()
    const { home: writer } = await openTestHome(root)
    const { home: reader } = await openTestHome(root)
    for (let n = 0; n < 5; n += 1) await writer.events.append({ type: 'mail', payload: { n } })
    const stop = new AbortController()
    const seen: unknown[] = []
    for await (const event of reader.events.tail({ last: 2, type: 'mail', signal: stop.signal })) {
      seen.push(event.payload.n)
      if (seen.length === 2) await writer.events.append({ type: 'nudge' })
      if (seen.length === 2) await writer.events.append({ type: 'mail', payload: { n: 5 } })
      if (seen.length === 3) stop.abort()
    }
    expect(seen).toEqual([3, 4, 5])
    await writer[Symbol.asyncDispose]()
    await reader[Symbol.asyncDispose]()
  })

  it('past their time are pruned, but the newest hundred stay however old', async () => {
    const root = scratch()
    const { home, clock } = await openTestHome(root)
    for (let n = 0; n < 250; n += 1)
      await home.events.append({ type: n % 2 ? 'patrol_started' : 'mail', payload: { n } })
    clock.ms += 2 * DAY_MS
    const stats = await home.events.stats()
    expect(stats).toMatchObject({
      events: 250,
      expired: 125,
      by_age: { '0-1d': 0, '1-7d': 250, '7-30d': 0, '30d+': 0 },
    })
    const dry = await home.events.prune({ dryRun: true })
    expect(dry).toMatchObject({ dry_run: true, pruned: 75, retained: 50, kept: 175, by_type: { patrol_started: 75 } })
    expect((await home.events.read()).length).toBe(250)
    expect(await home.events.prune()).toMatchObject({ pruned: 75, retained: 50, kept: 175 })
    expect((await home.events.read()).length).toBe(175)
    clock.ms += 300 * DAY_MS
    await home.events.prune()
    expect((await home.events.read()).length).toBe(100)
    await home[Symbol.asyncDispose]()
  })

  it('are pruned by themselves at most once an hour', async () => {
    const { home, clock } = await openTestHome(scratch())
    await home.events.append({ type: 'mail' })
    expect((await home.events.prune({ auto: true })).skipped).toBe(true) // a journal that was just begun
    clock.ms += 60 * 60_000
    expect((await home.events.prune({ auto: true })).skipped).toBe(false)
    clock.ms += 59 * 60_000
    expect((await home.events.prune({ auto: true })).skipped).toBe(true)
    clock.ms += 60_000
    expect((await home.events.prune({ auto: true })).skipped).toBe(false)
    expect((await home.events.stats()).auto_prune).toMatchObject({ prune_count: 2 })
    await home[Symbol.asyncDispose]()
  })

  it('with a large payload lose their blob only when the last event that needs it goes', async () => {
    const root = scratch()
    const { home, clock } = await openTestHome(root)
    writeFileSync(join(root, 'config.toml'), '[events]\nmin_retain = 0\n')
    const payload = { body: 'x'.repeat(100_000) }
    await home.events.append({ type: 'patrol_started', payload })
    await home.events.append({ type: 'mail', payload })
    clock.ms += 2 * DAY_MS
    expect((await home.events.prune()).pruned).toBe(1)
    expect((await home.events.read())[0]?.payload).toEqual(payload)
    clock.ms += 60 * DAY_MS
    expect((await home.events.prune()).pruned).toBe(1)
    expect(readFileSync(join(profileDirectory(root), 'auto-prune.json'), 'utf8')).toContain('"total_pruned":2')
    await home[Symbol.asyncDispose]()
  })

  it('report what is at risk apart from what has expired', async () => {
    const { home, clock } = await openTestHome(scratch())
    await home.events.append({ type: 'nudge' }) // three days, steady
    clock.ms += 2.5 * DAY_MS
    await home.events.append({ type: 'nudge' })
    expect(await home.events.stats()).toMatchObject({ at_risk: 1, expired: 0 })
    expect(await home.events.decay()).toEqual([
      {
        type: 'nudge',
        ttl: '3d',
        curve: 'steady',
        events: 2,
        average_worth: 0.583,
        lowest_worth: 0.167,
        at_risk: 1,
        expired: 0,
      },
    ])
    clock.ms += DAY_MS
    expect(await home.events.stats()).toMatchObject({ at_risk: 0, expired: 1 })
    await home[Symbol.asyncDispose]()
  })
})

describe('the settings of retention', () => {
  it('are read from the config file and changed in place, leaving the rest of it alone', async () => {
    const root = scratch()
    const file = join(root, 'config.toml')
    writeFileSync(
      file,
      '# mine\n[ui]\ntheme = "dark" # keep\n\n[events.ttl]\nmail = "2d"\n\n[tools.vibe]\ncommand = "vibe"\n',
    )
    const { home } = await openTestHome(root)
    expect((await home.events.policy()).ttls.mail).toBe('2d')
    await home.events.setTtl('mail', '9d')
    await home.events.setTtl('patrol_*', '6h')
    await home.events.setTtl('default', '10d')
    expect(readFileSync(file, 'utf8')).toBe(
      '# mine\n[ui]\ntheme = "dark" # keep\n\n[events.ttl]\nmail = "9d"\n"patrol_*" = "6h"\n\n[tools.vibe]\ncommand = "vibe"\n\n[events]\ndefault_ttl = "10d"\n',
    )
    expect(await home.events.policy()).toMatchObject({
      default_ttl: '10d',
      ttls: { mail: '9d', 'patrol_*': '6h00m', session_start: '3d' },
    })
    await home.events.resetTtls()
    expect(await home.events.policy()).toMatchObject({ default_ttl: '7d', ttls: { mail: '30d' } })
    expect(readFileSync(file, 'utf8')).toContain('theme = "dark" # keep')
    await home[Symbol.asyncDispose]()
  })

  const wrong: [string, RegExp][] = [
    ['[events\nx=1', /config\.toml:1:\d+: /],
    ['[events]\ndefault_ttl = "soon"', /events\.default_ttl in .*config\.toml is "soon", not a duration/],
    ['[events]\nmin_retain = -1', /events\.min_retain in .* is -1, not a whole number/],
    ['events = 3', /"events" in .*config\.toml is not a table/],
    ['[events.ttl]\nmail = 5', /events\.ttl\.mail in .* is 5, not a duration/],
  ]
  for (const [content, message] of wrong) {
    it(`say what is wrong with ${JSON.stringify(content)}`, async () => {
      const root = scratch()
      writeFileSync(join(root, 'config.toml'), content)
      const { home } = await openTestHome(root)
      await expect(home.events.policy()).rejects.toMatchObject({
        code: 'bad-config',
        message: expect.stringMatching(message),
      })
      await home[Symbol.asyncDispose]()
    })
  }
})

describe('the feed', () => {
  it('tells a done once, a burst of starts in one line, and nothing that is for the audit', async () => {
    const { home, clock } = await openTestHome(scratch())
    await home.events.append({ type: 'done', payload: { work_unit: 'w-1' } })
    clock.ms += 5_000
    await home.events.append({ type: 'done', payload: { work_unit: 'w-1' } })
    await home.events.append({ type: 'done', payload: { work_unit: 'w-2' } })
    await home.events.append({ type: 'privacy_redacted', payload: { rule: 'aws', count: 1 } })
    for (let n = 0; n < 4; n += 1) await home.events.append({ type: 'spawn', payload: { n } })
    clock.ms += 60_000
    await home.events.append({ type: 'spawn' })
    expect(feedOf(await home.events.read()).map(({ summary, count }) => [summary, count])).toEqual([
      ['tester finished w-1', undefined],
      ['tester finished w-2', undefined],
      ['tester: 4 x spawn', 4],
      ['tester spawned an agent', undefined],
    ])
    await home[Symbol.asyncDispose]()
  })
})
