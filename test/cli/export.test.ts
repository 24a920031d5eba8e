import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { type } from './typed.js'
import { buildWorld, profilesUnder, scratch } from './world.js'

describe('skein export', () => {
  const world = scratch()
  const root = join(world.path, 'home')
  const skein = (line: string, more: Parameters<typeof type>[1] = {}) =>
    type(line.split(' '), { profiles: profilesUnder(root), cwd: world.path, now: Date.now, ...more })
  beforeAll(async () => {
    await buildWorld(root)
    return () => world[Symbol.dispose]()
  })

  it('writes a file for its owner alone, and says on stderr what was left out', async () => {
    const { stdout, stderr, exitCode } = await skein('export 22222222 --format html --output page.html')
    const path = join(world.path, 'page.html')
    expect({ stdout, exitCode }).toEqual({ stdout: `Wrote ${path}: 1 session, 7 turns\n`, exitCode: 0 })
    expect(stderr).toBe('Left out for privacy: metadata-only 4 times\n')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readFileSync(path, 'utf8')).toContain('SUB-RESULT')
  })

  it('calls Markdown by its short and by its whole name', async () => {
    const [short, whole] = [
      await skein('export 22222222 --format md'),
      await skein('export 22222222 --format markdown'),
    ]
    const withoutTime = ({ stdout }: { stdout: string }): string => stdout.replace(/^Exported .*$/m, '')
    expect(whole.exitCode).toBe(0)
    expect(withoutTime(whole)).toBe(withoutTime(short))
    expect(short.stdout).toMatch(/^# /)
  })

  it('says what a session cost, as cost does, and names models without a known price', async () => {
    const { sessions } = JSON.parse((await skein('sessions list --json')).stdout) as { sessions: { id: string }[] }
    const costs = await Promise.all(
      sessions.map(async ({ id }) => {
        const { cost } = JSON.parse((await skein(`export ${id} --format json`)).stdout)
        const { total } = JSON.parse((await skein(`cost ${id} --json`)).stdout)
        expect({ id, calls: cost?.calls ?? 0, micro_usd: cost?.micro_usd ?? 0 }).toEqual({
          id,
          calls: total.calls,
          micro_usd: total.micro_usd,
        })
        expect(cost?.unpriced_models ?? []).toEqual(total.unpriced_models)
        return total.calls as number
      }),
    )
    expect(costs.filter((calls) => calls > 0).length).toBeGreaterThan(0)
  })

  it('overwrites nothing and leaves nothing half written', async () => {
    writeFileSync(join(world.path, 'mine.md'), 'mine')
    const { stderr, exitCode } = await skein('export 22222222 -o mine.md')
    expect({ stderr, exitCode }).toEqual({
      stderr: `skein: ${join(world.path, 'mine.md')} already exists. Use another name, or remove it first\n`,
      exitCode: 2,
    })
    expect(readFileSync(join(world.path, 'mine.md'), 'utf8')).toBe('mine')
    expect((await skein('export 22222222 --output nowhere/x.md')).stderr).toContain('(ENOENT)')
    expect(readdirSync(world.path).filter((name) => name.includes('tmp'))).toEqual([])
  })

  it('writes one session, or its whole chain, or all sessions of a unit of work', async () => {
    const ids = async (line: string): Promise<string[]> => JSON.parse((await skein(`${line} --json`)).stdout).sessions
    expect(await ids('export 7d20b1c4')).toEqual(['7d20b1c4-second'])
    expect(await ids('export 7d20b1c4 --chain')).toEqual(['0f3c9a12-first', '7d20b1c4-second'])
    expect(await ids('export wk-42')).toEqual(['0f3c9a12-first', '7d20b1c4-second'])
    expect((await skein('export nothing')).stderr).toContain('No session')
  })

  it('replays a chain or a unit of work one session after the other, and marks where a step begins and ends', async () => {
    const heads = async (line: string): Promise<string[]> =>
      (await skein(line)).stdout.split('\n').filter((one) => one.startsWith('== '))
    const both = ['== session 0f3c9a12-first', '== session 7d20b1c4-second']
    expect(await heads('replay 7d20b1c4 --chain')).toEqual(both)
    expect(await heads('replay wk-42')).toEqual(both)
    expect((await skein('replay wk-42 --from 2')).stderr).toContain('--from needs one session')
    const { stdout } = await skein('replay 22222222')
    expect(stdout.match(/^(?:\* \w+|-- .*)/gm)).toEqual([
      '-- step read',
      ...['* Bash', '* Glob', '* Read', '* Write', '* Edit', '* Grep', '* Bash'],
      '-- end of step read',
      '* Agent',
    ])
  })

  it('writes only the calls of a step, to a file as well, and says which steps there are', async () => {
    const calls = (text: string): number => text.match(/\bAgent\b/g)?.length ?? 0
    const whole = (await skein('export 22222222')).stdout
    const part = (await skein('export 22222222 --step read')).stdout
    expect([calls(whole) > 0, calls(part), part.includes('git log')]).toEqual([true, 0, true])
    await skein('export 22222222 --step read -o read.md')
    expect(readFileSync(join(world.path, 'read.md'), 'utf8').trimEnd()).toBe(part.trimEnd())
    expect(await skein('export 22222222 --step sing')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('read'),
    })
  })

  it('applies the policy of the user', async () => {
    const privacyFile = join(root, 'privacy.yaml')
    writeFileSync(privacyFile, 'tool_privacy:\n  "*": none\n')
    const { stdout, stderr } = await skein('export 22222222')
    expect(stdout).not.toContain('git log')
    expect(stdout).toContain('turn one please')
    expect(stderr).toMatch(/not-kept \d+ times/)
    rmSync(privacyFile)
  })

  it('applies the policy of the project that the session worked in, not of where the user stands', async () => {
    const project = join(world.path, 'project')
    const policy = join(project, '.skein')
    mkdirSync(policy, { recursive: true })
    writeFileSync(join(policy, 'privacy.yaml'), 'tool_privacy:\n  Bash: none\n')
    {
      await using home = await profilesUnder(root).open('default')
      await home.sessions.update('22222222-2222-4222-8222-222222222222', { cwd: project })
    }
    expect((await skein('export 22222222')).stdout).not.toContain('git log')
  })

  it('of a session whose tool has deleted its log: everything works from the archive, and says so', async () => {
    const before = (await skein('export 77777777')).stdout
    const logs = join(root, 'logs', 'claude', 'projects', '-srv-web')
    rmSync(join(logs, '77777777-7777-4777-8777-777777777777.jsonl'))
    const note = 'Log deleted or cut by its tool; shown from the archive.'
    for (const line of ['turns 77777777', 'turns 77777777 --full', 'tools 77777777', 'show 77777777']) {
      expect((await skein(line)).stderr).toContain(note)
    }
    for (const format of ['md', 'html']) {
      const { stdout, stderr } = await skein(`export 77777777 --format ${format}`)
      expect(stdout).toContain(note)
      expect(stderr).toContain(note)
    }
    const withoutNote = (text: string): string => text.replace(/Exported .*|\*\*Log deleted.*\n\n/g, '')
    expect(withoutNote((await skein('export 77777777')).stdout)).toBe(withoutNote(before))
    expect((await skein('replay 77777777')).stdout).toContain(note)
    const document = JSON.parse((await skein('export 77777777 --format json')).stdout)
    expect(document.sessions[0]).toMatchObject({ from_log: false, told_from: 'archive' })
    const restored = await skein('archive restore 77777777')
    expect(restored).toMatchObject({ exitCode: 0, stderr: '' })
    expect(restored.stdout).toContain("This is not the tool's own log")
    expect((await skein('archive list --gone')).stdout).toMatch(/77777777.*gone/)
  })

  it('when the archive is gone as well, says so in the document and still counts its turns', async () => {
    rmSync(join(root, 'profiles', 'default', 'archive'), { recursive: true })
    for (const format of ['md', 'html']) {
      const { stdout } = await skein(`export 77777777 --format ${format}`)
      expect(stdout).toContain('The log of this session is gone')
      expect(stdout).toContain('Turn 2')
    }
    expect((await skein('replay 77777777')).stdout).toContain('The log of this session is gone')
    expect(await skein('archive restore 77777777')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('skein archive list'),
    })
  })

  it('replays only turns that there are', async () => {
    expect(await skein('replay 22222222 --from 8')).toMatchObject({
      stderr: 'skein: The session has 7 turns. Use --from 1 to 7\n',
      exitCode: 2,
    })
    expect((await skein('replay 22222222 --from 7')).stdout).toMatch(/^Turn 7 /)
    expect((await skein('replay 22222222 --speed 0')).stderr).toContain('"0" is not a speed from 0.125 to 64')
  })
})
