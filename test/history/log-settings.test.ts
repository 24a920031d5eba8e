import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openTestHome, scratch } from '../home/scratch.js'
import { CLAUDE } from './logs.js'

describe('settings about logs', () => {
  const project = join('.claude', 'projects', '-srv')
  const log = join(project, '22222222-2222-4222-8222-222222222222.jsonl')

  it('name more directories, also below the home directory', async () => {
    const root = scratch()
    mkdirSync(join(root, 'more', 'projects', '-srv'), { recursive: true })
    copyFileSync(
      join(CLAUDE, 'interactive-7turns-tools-subagent.jsonl'),
      join(root, 'more', 'projects', '-srv', '22222222-2222-4222-8222-222222222222.jsonl'),
    )
    writeFileSync(join(root, 'config.toml'), '[logs]\nclaude = ["~/more"]\n')
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    expect(await home.history.ingest()).toMatchObject({ logs: 1, read: 1, sessions_found: 1 })
    expect((await home.history.cost({ noIndex: true })).total.calls).toBeGreaterThan(0)
    await home[Symbol.asyncDispose]()
  })

  it('about prices hold for lists and cards at once, and when they are taken back', async () => {
    const root = scratch()
    const id = '22222222-2222-4222-8222-222222222222'
    mkdirSync(join(root, project), { recursive: true })
    copyFileSync(join(CLAUDE, 'interactive-7turns-tools-subagent.jsonl'), join(root, log))
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    await home.history.ingest()
    const spent = async (): Promise<number | undefined> => (await home.history.spent([id])).get(id)?.micro_usd
    const listed = await spent()
    writeFileSync(join(root, 'config.toml'), '[prices."claude*"]\ninput = 1000\noutput = 1000\n')
    const dear = await spent()
    expect(dear).toBeGreaterThan((listed ?? 0) * 10)
    expect((await home.history.cost()).total.micro_usd).toBe(dear)
    writeFileSync(join(root, 'config.toml'), '[prices."claude*"]\ninput = "much"\noutput = 1000\n')
    expect(await spent()).toBe(dear) // settings that cannot be read are told by the commands that need them
    rmSync(join(root, 'config.toml'))
    expect(await spent()).toBe(listed)
    await home[Symbol.asyncDispose]()
  })

  it.each([
    ['[logs]\nclaud = ["/srv"]', 'logs.claud'],
    ['[logs]\nclaude = ["more"]', 'logs.claude'],
    ['[logs]\nclaude = "/srv"', 'logs.claude'],
    ['[prices."gpt*"]\ninput = inf\noutput = 1', 'prices.gpt*.input'],
    ['[prices."gpt*"]\ninput = 1', 'prices.gpt*'],
  ])('that mean nothing are refused: %j', async (settings, named) => {
    const root = scratch()
    mkdirSync(join(root, project), { recursive: true })
    copyFileSync(join(CLAUDE, 'interactive-7turns-tools-subagent.jsonl'), join(root, log))
    writeFileSync(join(root, 'config.toml'), `${settings}\n`)
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    await expect(home.history.cost({ noIndex: true })).rejects.toMatchObject({
      code: 'bad-config',
      message: expect.stringContaining(`${named} in `),
    })
    await home[Symbol.asyncDispose]()
  })
})
