import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { NoticeBook } from '../../src/daemon/notices/notice-book.js'
import { Notices } from '../../src/daemon/notices/notices.js'
import { parseNotify } from '../../src/daemon/notices/notify-settings.js'
import type { SeenAgent } from '../../src/daemon/watch/agent-table.js'
import { type AgentId, type AgentStatus, instantOf } from '../../src/model/index.js'
import { scratch } from '../home/scratch.js'

const T0 = Date.UTC(2026, 0, 17, 12)

function bench(table: object = {}) {
  const lines: string[] = []
  const settings = parseNotify({ notify: { by: ['tmux'], ...table } }, 'config.toml')
  const time = { nowMs: T0, shown: new Set<AgentId>() }
  const outlets = { platform: 'linux', env: {}, announce: async (text: string) => void lines.push(text) }
  const book = new NoticeBook(join(scratch(), 'notices.json'))
  const notices = new Notices(
    book,
    outlets,
    { now: () => time.nowMs },
    () => {},
    async () => time.shown,
  )
  const look = async (...agents: SeenAgent[]): Promise<void> => {
    notices.look(agents, settings)
    await notices.settled()
  }
  const pass = async (ms: number): Promise<void> => {
    time.nowMs += ms
    notices.flush(settings)
    await notices.settled()
  }
  const agent = (name: string, status: Partial<AgentStatus> = {}): SeenAgent =>
    ({
      id: name as AgentId,
      address: name,
      status: 'waiting',
      waiting_for: 'finished',
      since: instantOf(time.nowMs),
      source: 'hook',
      token: `finished-${time.nowMs}-${name}`,
      ...status,
    }) as SeenAgent
  return { lines, time, look, pass, agent }
}

describe('notices', () => {
  it('are not given of an agent that its user looks at, nor later for the same wait', async () => {
    const { lines, time, look, agent } = bench()
    const [here, there] = [agent('here'), agent('there')]
    time.shown = new Set(['here' as AgentId])
    await look(here, there)
    time.shown = new Set()
    await look(here, there)
    expect(lines).toEqual(['there has finished'])
  })

  it('of one agent that finishes over and over are few, and the last one is told in the end', async () => {
    const { lines, look, pass, agent } = bench()
    let last = agent('a')
    for (let at = 0; at < 39; at += 1) {
      await pass(500)
      last = agent('a', { reason: `reply ${at}` })
      await look(last)
    }
    expect(lines.length).toBeLessThanOrEqual(6)
    await pass(60_000)
    expect(lines.at(-1)).toContain('reply 38')
    const told = lines.length
    await pass(60_000)
    expect(lines.length).toBe(told)
  })

  it('of many agents are few: the rest is told in one, as far as it is still so', async () => {
    const { lines, look, pass, agent } = bench()
    const seen: SeenAgent[] = []
    for (let at = 0; at < 30; at += 1) {
      seen.push(agent(`a${at}`))
      await look(...seen)
      await pass(100)
    }
    expect(lines.length).toBeLessThanOrEqual(11)
    const answered = seen.map((one, at) => (at === 29 ? agent('a29', { status: 'idle' }) : one))
    await look(...answered)
    await pass(60_000)
    expect(lines.at(-1)).toMatch(/^\d+ more agents need you: .*a28$/)
  })

  it('are not given again when an agent comes back to an older wait', async () => {
    const { lines, look, agent } = bench()
    const waits = agent('a')
    const fails = agent('a', { status: 'error', token: undefined as never, reason: 'rate limited' })
    await look(waits)
    await look(fails)
    await look(waits)
    await look(fails)
    expect(lines).toHaveLength(2)
  })
})

it('how many notices a minute may bring is a whole number', () => {
  expect(() => parseNotify({ notify: { per_minute: 0 } }, 'f')).toThrow(/per_minute/)
  expect(parseNotify({ notify: { per_minute: 3 } }, 'f').perMinute).toBe(3)
})
