import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { PurgeReport } from '../../src/home/index.js'
import { type Typed, type } from './typed.js'
import { buildWorld, profilesUnder, scratch } from './world.js'

const SECRET = 'Fix the login'

async function world(): Promise<{ root: string; skein: (args: string[], stdin?: string) => Promise<Typed> }> {
  const own = scratch()
  onTestFinished(() => own[Symbol.dispose]())
  const root = join(own.path, 'home')
  await buildWorld(root)
  return { root, skein: (args, stdin = '') => type(args, { profiles: profilesUnder(root), stdin: () => stdin }) }
}

describe('skein purge', () => {
  it('says where something is and changes nothing, unless it is told to', async () => {
    const { root, skein } = await world()
    const looked = await skein(['purge', '--secret-stdin'], `${SECRET}\n`)
    expect(looked).toMatchObject({ exitCode: 0, stderr: '' })
    expect(looked.stdout).toContain('Nothing was changed; do it with --yes')
    expect(looked.stdout).not.toContain(SECRET)
    expect(existsSync(join(root, 'purged.json'))).toBe(false)
    expect((await skein(['sessions', 'find', SECRET])).stdout).toContain(SECRET)

    const done = await skein(['purge', '--secret-stdin', '--yes', '--json'], SECRET)
    const report = JSON.parse(done.stdout) as PurgeReport
    expect(done).toMatchObject({ exitCode: 0, stderr: '' })
    expect(report.proof).toMatchObject({ left: [], unreadable: [] })
    expect(report.places.map(({ file }) => file)).toContain('profiles/default/events/00000001.jsonl')
    expect(done.stdout + readFileSync(join(root, 'purged.json'), 'utf8')).not.toContain(SECRET)
    expect((await skein(['sessions', 'list'])).stdout).not.toContain(SECRET)
    expect((await skein(['index', 'check'])).exitCode).toBe(0)
    const again = await skein(['purge', '--secret-stdin', '--yes'], SECRET)
    expect(again.stdout).toMatch(/^Purged 0 occurrences in 0 files\.\n(.|\n)*0 left in \d+ files, [\d,]+ bytes\.\n$/)
  })

  it('ends with 1 and names the places when something is left', async () => {
    const { root, skein } = await world()
    // Where the settings are, only the user writes.
    const { stdout, exitCode } = await skein(['purge', '--pattern', 'prices', '--yes'])
    expect(readFileSync(join(root, 'config.toml'), 'utf8')).toContain('prices')
    expect(exitCode).toBe(1)
    expect(stdout).toContain('config.toml')
    expect(stdout).toContain('skein purge --resume')
  })

  it.each([
    [['--pattern', '('], 'cannot be parsed'],
    [['--pattern', '(x+)+y'], 'can run for ever'],
    [['--path', '**'], 'matches almost every path'],
    [['--secret-stdin'], 'too many places'],
    [[], 'Name one thing to purge'],
    [['--pattern', 'x+', '--path', 'y'], 'Name one thing to purge'],
    [['--pattern', 'xyz', '--yes', '--dry-run'], 'cannot be combined'],
  ])('refuses %j with one line', async (args, why) => {
    const { skein } = await world()
    const { stdout, stderr, exitCode } = await skein(['purge', ...args], 'short')
    expect({ stdout, exitCode, lines: stderr.split('\n').length }).toEqual({ stdout: '', exitCode: 2, lines: 2 })
    expect(stderr).toContain(why)
  })
})
