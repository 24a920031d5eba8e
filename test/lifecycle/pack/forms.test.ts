import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseSessionId } from '../../../src/model/index.js'
import { workshop } from '../workshop.js'
import { claudeLike, filesOf, git, packable, packed, SESSION } from './packable.js'

describe('a pack', () => {
  it('of a chain carries its sessions in their order; the last one is resumed, the others can be read', async () => {
    const shop = await packable()
    const next = parseSessionId('11111111-5f60-4e6d-9c3b-2a1f0e9d8c7b')
    await shop.home.sessions.start({ id: next, tool: 'claude', cwd: shop.project, parent_id: SESSION, link: 'handoff' })
    const first = join(shop.root, '.claude/projects', shop.project.replace(/[^A-Za-z0-9]/g, '-'), `${SESSION}.jsonl`)
    const lines = readFileSync(first, 'utf8').replaceAll(SESSION, next).replaceAll('do ', 'then do ')
    writeFileSync(first.replace(SESSION, next), lines)
    await shop.home.history.ingest({})
    const sessions = [await shop.home.sessions.find(SESSION), await shop.home.sessions.find(next)]
    const report = await packed(shop, { sessions, code: false, turn: 2 })
    expect(report.sessions).toMatchObject([
      { session: SESSION, turns: 3 },
      { session: next, turns: 2, turn: 2 },
    ])

    const other = await workshop({ runners: [claudeLike()] })
    const made = await other.agents.unpack({ file: shop.file, into: other.project })
    expect(made).toMatchObject({ source_session_id: next, turns: 2 })
    await other.home.history.ingest({})
    const prompts = async (id: string): Promise<string[]> =>
      (await other.home.history.turns(id)).turns.map(({ prompt }) => prompt.replace(/ in .*/, ''))
    expect(await prompts(made.session)).toEqual(['then do 1', 'then do 2'])
    expect(await prompts(SESSION)).toEqual(['do 1', 'do 2', 'do 3'])
    expect(await other.home.sessions.find(next)).toMatchObject({ parent_id: SESSION, link: 'handoff' })
  })

  it('of a repository with SHA-256 makes one with SHA-256', async () => {
    const shop = await packable({ format: 'sha256' })
    await packed(shop, { turn: 2 })
    const other = await workshop({ runners: [claudeLike()] })
    const into = join(other.root, 'there')
    await other.agents.unpack({ file: shop.file, into })
    expect(git(into, 'rev-parse', '--show-object-format')).toBe('sha256')
    expect(filesOf(into)).toEqual(['README.md', 'file-1.txt', 'file-2.txt', 'link', 'run.sh'])
    expect(git(into, 'status', '--porcelain')).toBe(shop.status)
    expect(git(into, 'fsck', '--strict')).toBe('')
  })

  it('has the same bytes when it is made again at the same moment, and another moment changes nothing but its times', async () => {
    let now = Date.UTC(2026, 10, 17)
    const shop = await packable({ clock: { now: () => now } })
    const bytes = async (): Promise<string> => {
      await packed(shop, { force: true })
      return readFileSync(shop.file, 'latin1')
    }
    const first = await bytes()
    expect(await bytes()).toBe(first)
    now += 86_400_000
    const later = await bytes()
    expect(later).not.toBe(first)
    expect(later.length).toBe(first.length)
    const bundle = (pack: string): string => pack.slice(pack.indexOf('git bundle'), -32)
    expect(bundle(later)).toBe(bundle(first))
  })
})
