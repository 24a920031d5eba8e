import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Typed, type } from './typed.js'
import { buildWorld, profilesUnder, scratch } from './world.js'

const OWN = '22222222-2222-4222-8222-222222222222'

describe('skein search', () => {
  const world = scratch()
  const root = join(world.path, 'home')
  beforeAll(() => buildWorld(root))
  afterAll(() => world[Symbol.dispose]())
  const search = (...words: string[]): Promise<Typed> => type(['search', ...words], { profiles: profilesUnder(root) })

  it('ends like grep: 0 found, 1 nothing, 2 no search', async () => {
    expect(await search('readme')).toMatchObject({ exitCode: 0, stderr: '' })
    expect(await search('nosuchword')).toEqual({ exitCode: 1, stdout: '', stderr: 'Nothing found.\n' })
    expect(await search('***')).toMatchObject({ exitCode: 2, stdout: '' })
    expect(await search('')).toMatchObject({ exitCode: 2, stdout: '' })
    expect(await search()).toMatchObject({ exitCode: 2, stdout: '' })
    expect(await search('readme', '--in', 'nowhere')).toMatchObject({ exitCode: 2, stdout: '' })
    expect(await search('nosuchword', '--json')).toMatchObject({ exitCode: 1, stderr: '' })
  })

  it('a hit is the next command to type, the turn, and what was said', async () => {
    const { stdout } = await search('"one command failed"')
    const [head, place, snippet] = stdout.split('\n')
    expect(head).toMatch(new RegExp(`^skein turns ${OWN} --turn 3 {2}reply, `))
    expect(place).toMatch(/^ {2}\S/)
    expect(snippet).toContain('one command failed')
  })

  it('paints what was found, on a terminal only', async () => {
    let painted = ''
    const stdout = { isTTY: true, columns: 100, write: (text: string) => (painted += text) }
    await type(['search', 'slowly'], { profiles: profilesUnder(root), stdout })
    expect(painted).toContain('\x1b[33m\x1b[1mslowly\x1b[22m\x1b[39m')
    expect((await search('slowly')).stdout).not.toContain('\x1b')
  })

  it('says so when no text was ever read', async () => {
    using empty = scratch()
    const { exitCode, stderr } = await type(['search', 'word'], { profiles: profilesUnder(empty.path) })
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: 'Nothing has been ingested yet. Read the logs with: skein ingest\n',
    })
  })
})
