import { request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { DaemonClient, ensureDaemon } from '../../src/daemon/index.js'
import type { AgentView } from '../../src/lifecycle/index.js'
import { type } from '../cli/typed.js'
import { agentsUnder, daemonUnder, profilesUnder } from '../cli/world.js'
import { Herd } from './herd.js'
import { until } from './scratch.js'

interface Answer {
  status: number
  body: unknown
}

/** As any program would ask, without our client. */
function ask(socketPath: string, method: string, path: string, body?: unknown): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, method, path, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }))
    })
    asked.on('error', reject)
    asked.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

describe('the API', () => {
  it('lists agents with the id to follow from, tells one, and explains it', async () => {
    const herd = await Herd.make()
    const toast = await herd.add('web/toast')
    await herd.add('butter')
    const { client } = await ensureDaemon(herd.access)
    herd.asks(toast)
    const list = await until(async () => {
      const found = (await client.get('/v1/agents')) as {
        agents: AgentView[]
        statusline: string
        last_event_id: string
      }
      return found.statusline === '!1' && found
    })
    expect(list.agents.map(({ address, status }) => [address, status])).toEqual([
      ['butter', 'idle'],
      ['web/toast', 'waiting'],
    ])
    expect(list.last_event_id).toMatch(/^[0-9a-f-]{36}$/)
    const { agents: some } = (await client.get('/v1/agents?group=web')) as { agents: AgentView[] }
    expect(some.map(({ address }) => address)).toEqual(['web/toast'])
    const path = `/v1/agents/${encodeURIComponent('web/toast')}`
    expect(await client.get(path)).toMatchObject({ id: toast.id, status: 'waiting', waiting_for: 'permission' })
    expect(await client.get(`${path}/why`)).toMatchObject({
      evidence: expect.arrayContaining([expect.objectContaining({ rule: 'hook:PermissionRequest', decided: true })]),
      history: expect.arrayContaining([expect.objectContaining({ status: 'waiting' })]),
    })
    expect(await client.get('/v1/next')).toMatchObject({ agent: { address: 'web/toast' } })
  })

  it.each(['//', '//host/v1/agents', 'http://[', '/v1/events?after=01f00000-0000-7000-8000-000000000000'])(
    'answers what it cannot serve with an error of whoever asked: %s',
    async (path) => {
      const herd = await Herd.make()
      await ensureDaemon(herd.access)
      const { status } = await ask(herd.access.place.socket, 'GET', path)
      expect([400, 404]).toContain(status)
    },
  )

  it('lets a reply be acknowledged and snoozed, and outside programs report', async () => {
    const herd = await Herd.make()
    const toast = await herd.add('toast')
    const { client } = await ensureDaemon(herd.access)
    herd.works(toast)
    herd.finishes(toast)
    await until(async () => (await herd.statusOf(toast))?.waiting_for === 'finished')
    const until_ = new Date(Date.now() + 3_600_000).toISOString()
    expect(await client.post('/v1/agents/toast/snooze', { until: until_ })).toMatchObject({ agent: { status: 'idle' } })
    expect(await client.post('/v1/agents/toast/ack')).toMatchObject({ agent: { status: 'idle' } })
    expect(await client.get('/v1/agents/toast/show')).toMatchObject({ address: 'toast' })
    const report = { agent: 'toast', status: 'waiting', waiting_for: 'question', reason: 'which one?' }
    expect(await client.post('/v1/report', report)).toMatchObject({ status: 'waiting', source: 'report' })
  })

  it('shows an agent whose program has failed as stopped, once that was acknowledged', async () => {
    const herd = await Herd.make()
    const toast = await herd.add('toast')
    const { client } = await ensureDaemon(herd.access)
    const listed = async () =>
      ((await client.get('/v1/list')) as { agents: { status: string; down?: string }[] }).agents[0]
    herd.tmux('kill-pane', '-t', (await herd.runs.read(toast.id))?.run?.pane ?? '')
    await until(async () => (await listed())?.status === 'error')
    expect(await client.post('/v1/agents/toast/ack')).toMatchObject({ agent: { status: 'stopped', down: 'crashed' } })
    await until(async () => (await listed())?.status === 'stopped')
    expect(await listed()).not.toHaveProperty('trouble')
  })

  it('says what is wrong in one shape, and never with a stack', async () => {
    const herd = await Herd.make()
    await herd.add('toast')
    const { client } = await ensureDaemon(herd.access)
    const { socket } = client.record
    const wrong: [string, string, unknown, number, string][] = [
      ['GET', '/v2/agents', undefined, 404, 'bad-input'],
      ['GET', '/v1/nothing', undefined, 404, 'bad-input'],
      ['DELETE', '/v1/agents/toast', undefined, 404, 'bad-input'],
      ['GET', '/v1/agents/toast/nothing', undefined, 404, 'bad-input'],
      ['GET', '/v1/agents/tost', undefined, 404, 'agent-not-found'],
      ['GET', '/v1/agents?group=//', undefined, 400, 'bad-address'],
      ['GET', '/v1/events?after=yesterday', undefined, 400, 'bad-input'],
      ['POST', '/v1/agents/toast/nothing', {}, 404, 'bad-input'],
      ['POST', '/v1/agents/toast/status', {}, 404, 'bad-input'],
      ['GET', '/v1/agents/toast/stop', undefined, 404, 'bad-input'],
      ['POST', '/v1/agents/tost/stop', {}, 404, 'agent-not-found'],
      ['POST', '/v1/agents/toast/snooze', { until: 'later' }, 400, 'usage'],
      ['POST', '/v1/agents/toast/answer', { decision: 'perhaps' }, 400, 'usage'],
      ['POST', '/v1/report', { agent: 'toast', status: 'happy' }, 400, 'bad-input'],
      ['POST', '/v1/report', [], 400, 'bad-input'],
    ]
    for (const [method, path, body, status, code] of wrong) {
      const answer = await ask(socket, method, path, body)
      expect([path, answer]).toEqual([
        path,
        { status, body: { error: { code, message: expect.any(String), next: expect.any(String) } } },
      ])
    }
  })
})

/** Moments pass between two questions. */
const ageless = (json: string): unknown => JSON.parse(json, (key, value) => (key === 'age_ms' ? '<age>' : value))

describe('skein next', () => {
  it('says the same with a daemon and without one', async () => {
    const herd = await Herd.make()
    const toast = await herd.add('web/toast')
    const world = {
      profiles: profilesUnder(herd.root),
      agents: agentsUnder(herd.root),
      daemon: daemonUnder(herd.root),
      now: Date.now,
    }
    herd.settings('autostart = false\n')
    herd.asks(toast)
    const without = await type(['next', '--json'], world)
    expect(DaemonClient.find(herd.access.place, herd.access.userId)).toBeUndefined()
    const { client } = await ensureDaemon(herd.access)
    await until(async () => 'agent' in ((await client.get('/v1/next')) as object))
    const withDaemon = await type(['next', '--json'], world)
    expect(ageless(without.stdout)).toEqual(ageless(withDaemon.stdout))
    expect((await type(['next'], world)).stdout).toMatch(/^web\/toast {2}waiting for \ds: Bash: ls$/m)
  })

  it('starts a daemon for the next time, without waiting for it', async () => {
    const herd = await Herd.make()
    const world = { profiles: profilesUnder(herd.root), agents: agentsUnder(herd.root), daemon: daemonUnder(herd.root) }
    expect((await type(['next'], world)).stdout).toBe('No agent waits for you\n')
    await until(() => DaemonClient.find(herd.access.place, herd.access.userId))
  })

  it('a test notice goes the ways that are configured, and says what was in the way', async () => {
    const herd = await Herd.make()
    await herd.add('toast')
    herd.settings('[notify]\nby = ["tmux", "command"]\ncommand = ["/nowhere/notifier"]\n')
    const { stdout } = await type(['notify', 'test', '--json'], { daemon: daemonUnder(herd.root) })
    expect(JSON.parse(stdout)).toEqual({
      deliveries: [{ way: 'tmux' }, { way: 'command', failed: '/nowhere/notifier is not installed' }],
    })
    herd.settings('[notify]\nby = ["smoke"]\n')
    const { stderr, exitCode } = await type(['notify', 'test'], { daemon: daemonUnder(herd.root) })
    expect(stderr).toMatch(/notify.by in .* is \["smoke"\]\. Write a list of "desktop"/)
    expect(exitCode).toBe(2)
  })
})
