import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Typed, type } from './typed.js'
import { agentsUnder, buildWorld, profilesUnder, scratch } from './world.js'

const OWN = '22222222-2222-4222-8222-222222222222'

describe('what the logs tell, as commands show it', () => {
  const world = scratch()
  const root = join(world.path, 'home')
  beforeAll(() => buildWorld(root))
  afterAll(() => world[Symbol.dispose]())
  const skein = (line: string): Promise<Typed> => type(line.split(' '), { profiles: profilesUnder(root) })

  it('tools and tokens of the turns add up to those of the session, sub-agents included', async () => {
    const { stdout } = await skein(`turns ${OWN}`)
    const [head = '', ...rows] = stdout.trimEnd().split('\n')
    const column = (name: string, end = head.indexOf(name) + name.length): number =>
      rows.reduce((sum, row) => {
        const cell = row.slice(0, end).split(/\s\s+/).at(-1) ?? ''
        return sum + (row[end - 1] === ' ' ? 0 : Number(cell.replaceAll(',', '')))
      }, 0)
    const shown = JSON.parse((await skein(`show ${OWN} --json`)).stdout)
    expect(column('TOOLS')).toBe(shown.tool_call_count)
    expect(column('TOKENS')).toBe(shown.spent.tokens)
    expect((await skein(`show ${OWN}`)).stdout).toMatch(/^model +claude-opus-5-5$/m)
  })

  it('a session without a log, without tool calls or without turns is said to be so', async () => {
    const none = 'No log of this session has been read. Read new logs with: skein ingest\n'
    expect(await skein('turns 0f3c9a12')).toEqual({ stdout: '', stderr: none, exitCode: 0 })
    expect(await skein('tools 0f3c9a12')).toEqual({ stdout: '', stderr: none, exitCode: 0 })
    const id = '88888888-8888-4888-8888-888888888888'
    const prompt = {
      type: 'user',
      uuid: 'a',
      parentUuid: null,
      sessionId: id,
      message: { role: 'user', content: 'hi' },
    }
    writeFileSync(join(root, 'logs/claude/projects/-srv-web', `${id}.jsonl`), `${JSON.stringify(prompt)}\n`)
    expect((await skein('ingest')).stdout).toMatch(
      /^Read 1 of 4 logs \(\d+ B\): 1 turn, 0 tool calls; 1 session found$/m,
    )
    expect(await skein(`tools ${id}`)).toEqual({ stdout: '', stderr: 'No tool calls.\n', exitCode: 0 })
  })

  it('a card says when it shows only the newest of many turns', async () => {
    const id = '99999999-9999-4999-8999-999999999999'
    const prompt = (at: number) => ({
      type: 'user',
      uuid: `p${at}`,
      parentUuid: at === 0 ? null : `p${at - 1}`,
      sessionId: id,
      message: { role: 'user', content: `prompt ${at}` },
    })
    const lines = [...Array(20).keys()].map((at) => JSON.stringify(prompt(at)))
    writeFileSync(join(root, 'logs/claude/projects/-srv-web', `${id}.jsonl`), `${lines.join('\n')}\n`)
    await skein(`ingest ${id}`)
    const { stdout } = await skein(`show ${id}`)
    expect(stdout).toContain('\nThe newest 15 of 20 turns:\nTURN')
    expect(stdout).not.toContain('prompt 4')
    expect((await skein(`show ${OWN}`)).stdout).not.toContain('The newest')
  })

  it('the overview has days as cost has them, and says where sessions ran and what was asked first', async () => {
    const at = async (now: Date): Promise<string> =>
      (await type([], { profiles: profilesUnder(root), agents: agentsUnder(root), now: () => now.getTime() })).stdout
    // The logs are of the 15th.
    expect(await at(new Date(2026, 10, 15, 23, 59))).toMatch(
      /^Spent: \$0\.\d*[1-9]\d* today, \$0\.\d*[1-9]\d* in 7 days/m,
    )
    const nextDay = await at(new Date(2026, 10, 16, 0, 1))
    expect(nextDay).toMatch(/^Spent: \$0\.00 today, \$0\.\d*[1-9]\d* in 7 days/m)
    expect(nextDay).toMatch(/^22222222.* repo {2,}turn one please$/m)
  })

  it('ingest says when there is nothing to read of a session', async () => {
    const nothing = 'Read 0 of 0 logs (0 B): 0 turns, 0 tool calls\n'
    expect(await skein('ingest nosuch')).toEqual({
      stdout: '',
      stderr: 'skein: No session matches "nosuch". Try: skein sessions list\n',
      exitCode: 1,
    })
    expect(await skein('ingest 0f3c9a12')).toEqual({
      stdout: nothing,
      stderr: 'No log of session 0f3c9a12-first was found.\n',
      exitCode: 0,
    })
    expect(await skein(`ingest ${OWN} --tool codex`)).toEqual({
      stdout: nothing,
      stderr: `No log of session ${OWN} was found among those of codex.\n`,
      exitCode: 0,
    })
  })

  it('where there are no logs, ingest says where they are looked for', async () => {
    using other = scratch()
    const { stdout, stderr } = await type(['ingest'], { profiles: profilesUnder(other.path) })
    expect(stdout).toBe('Read 0 of 0 logs (0 B): 0 turns, 0 tool calls\n')
    expect(stderr).toBe('No logs were found. docs/LOGS.md lists where Skein looks and how to add places\n')
  })

  it('logs that cannot be read are named, by the overview too, and counted when they are many', async () => {
    using other = scratch()
    const data = join(other.path, '.local', 'share', 'opencode')
    mkdirSync(data, { recursive: true })
    for (let at = 0; at < 8; at += 1) writeFileSync(join(data, `opencode-${at}.db`), 'no database')
    for (const words of [['ingest'], []]) {
      const { stderr } = await type(words, { profiles: profilesUnder(other.path) })
      const lines = stderr.trimEnd().split('\n')
      expect(lines).toHaveLength(6)
      expect(lines[0]).toMatch(/^Could not read .*opencode-0\.db \(not a database that Skein supports\)$/)
      expect(lines[5]).toBe('Nor 3 other logs')
    }
  })
})
