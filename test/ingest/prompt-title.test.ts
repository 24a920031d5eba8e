import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { promptTitle } from '../../src/ingest/text/prompt-title.js'
import { openTestHome, scratch } from '../home/scratch.js'

const TOKEN = 'ghp_0123456789abcdefghijklmnopqrstuvwxyzAB'

describe('the title that a prompt gives', () => {
  it.each([
    ['its first line', 'fix the login\nand the tests', 'fix the login'],
    ['the first line that says something', '\n  \n<context>\nfix\tthe   login ', 'fix the login'],
    ['nothing when there is nothing', ' \n<context>\n', undefined],
    ['no secret', `use ${TOKEN} for it`, 'use [REDACTED:github-token] for it'],
    ['no control characters', 'a\x1b[2Jb\u202ec', 'a [2Jb c'],
  ])('is %s', (_what, prompt, title) => {
    expect(promptTitle(prompt)?.replace(/REDACTED:[\w-]+/, 'REDACTED:github-token')).toBe(title)
  })

  it('is one line of at most 80 characters, cut between words, and never half a secret', () => {
    expect(promptTitle(`${'word '.repeat(40)}`)).toBe(`${'word '.repeat(14)}word…`)
    fc.assert(
      fc.property(fc.nat(120), fc.string({ unit: 'grapheme' }), (before, rest) => {
        const title = promptTitle(`${'x '.repeat(before)}${TOKEN} ${rest}`) ?? ''
        expect(title.length).toBeLessThanOrEqual(80)
        expect(title).not.toMatch(/\n|ghp_/)
        expect(title.isWellFormed()).toBe(true)
      }),
      { seed: 11 },
    )
  })
})

describe('a session found in a log', () => {
  const id = '99999999-9999-4999-8999-999999999999'
  const line = (record: object): string => `${JSON.stringify({ sessionId: id, cwd: '/srv/web', ...record })}\n`
  const prompt = (text: string, at: number): string =>
    line({
      type: 'user',
      uuid: `u${at}`,
      parentUuid: at === 0 ? null : `u${at - 1}`,
      timestamp: `2026-01-17T07:0${at}:00.000Z`,
      message: { role: 'user', content: text },
    })

  it('is called by its first prompt until its log or a person names it', async () => {
    const root = scratch()
    const project = join(root, '.claude', 'projects', '-srv-web')
    mkdirSync(project, { recursive: true })
    const log = join(project, `${id}.jsonl`)
    const { home } = await openTestHome(root)
    await using _home = home
    const ingested = async (text: string): Promise<string | undefined> => {
      writeFileSync(log, text, { flag: 'a' })
      await home.history.ingest()
      return (await home.sessions.get(id))?.title
    }
    expect(await ingested(prompt(`use ${TOKEN} to fix the login`, 0))).toMatch(
      /^use \[REDACTED:[\w-]+\] to fix the login$/,
    )
    expect(await ingested(prompt('and now the tests', 1))).toMatch(/ to fix the login$/)
    expect(await ingested(line({ type: 'ai-title', aiTitle: 'Login' }))).toBe('Login')
    await home.sessions.update(id, { title: 'Mine' })
    expect(await ingested(prompt('more', 2))).toBe('Mine')
  })

  it('keeps the title it was given before its log was read', async () => {
    const root = scratch()
    const project = join(root, '.claude', 'projects', '-srv-web')
    mkdirSync(project, { recursive: true })
    const { home } = await openTestHome(root)
    await using _home = home
    await home.sessions.start({ id, title: 'Given' })
    writeFileSync(join(project, `${id}.jsonl`), prompt('fix the login', 0))
    await home.history.ingest()
    expect((await home.sessions.get(id))?.title).toBe('Given')
  })
})

it('short ids name one session each, and end in no dash', async () => {
  const { home } = await openTestHome(scratch())
  await using _home = home
  const ids = ['01a1dea6-aaaa', '01a1dea6-abbb', '0f3c9a12-first', 'short', 'minimal--x-1']
  for (const one of ids) await home.sessions.start({ id: one })
  const short = await home.sessions.shortIds(ids)
  expect(Object.fromEntries(short)).toEqual({
    '01a1dea6-aaaa': '01a1dea6-aa',
    '01a1dea6-abbb': '01a1dea6-ab',
    '0f3c9a12-first': '0f3c9a12',
    short: 'short',
    'minimal--x-1': 'minimal--x',
  })
  for (const [whole, beginning] of short) expect((await home.sessions.find(beginning)).id).toBe(whole)
})
