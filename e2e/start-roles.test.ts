import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { objectAt } from '../src/tools/json-value.js'
import { REAL_TOOLS } from './tools/index.js'
import { User } from './user.js'

const AGENT = 'gastown/crew/max'

const TOOLS = REAL_TOOLS.filter(({ name }) => ['claude', 'codex', 'gemini'].includes(name))

describe.each(TOOLS)('a crew member of Gas Town that runs $name $version', (tool) => {
  let user: User

  beforeAll(async () => {
    user = await User.of([tool], {
      settings: (scratch) => [
        `[tmux]\nsocket = ${JSON.stringify(scratch.path('tmux.sock'))}`,
        '[roles]',
        'preset = "gastown"',
        `root = ${JSON.stringify(scratch.path('town'))}`,
        'prefixes = { gastown = "gt" }',
        '[roles.crew]',
        `tool = "${tool.name}"`,
      ],
    })
  })
  afterAll(async () => user?.[Symbol.asyncDispose]())

  it('is started with its names, and the beacon is the first prompt that its model gets', async () => {
    const { skein, server } = user
    const started = await skein.run('start', '.', '--role', 'crew', '--group', 'gastown', '--agent', 'max')
    expect(objectAt(started, 'agent')).toMatchObject({ address: AGENT, role: 'crew', tmux_session: 'gt-crew-max' })
    await skein.run('wait', AGENT, '--until', 'idle', '--timeout', '60s')
    const [first] = server.requests
    expect(first?.prompts[0]).toMatch(
      /^\[GAS TOWN\] crew max \(rig: gastown\) <- human • \d{4}-\d\d-\d\dT\d\d:\d\d • cold-start\n\nCheck your hook and mail/,
    )
    const session = String((await skein.agent(AGENT)).session_id)
    expect(await skein.run('sessions', 'show', session)).toMatchObject({ topic: 'cold-start', sender: 'human' })
    const steps = objectAt(await skein.run('why', AGENT), 'start')?.steps as { name: string; outcome: string }[]
    expect(steps.filter(({ outcome }) => outcome === 'failed')).toEqual([])
    expect(steps.map(({ name }) => name)).toEqual(expect.arrayContaining(['session', 'wait', 'dialogs', 'verify']))
  })

  it('is who it is in its tmux session, also after it began afresh', async () => {
    const { skein, scratch } = user
    await skein.run('restart', AGENT, '--fresh')
    await skein.run('wait', AGENT, '--until', 'idle', '--timeout', '60s')
    const session = String((await skein.agent(AGENT)).session_id)
    const shown = execFileSync('tmux', ['-S', scratch.path('tmux.sock'), 'show-environment', '-t', '=gt-crew-max'], {
      encoding: 'utf8',
    }).split('\n')
    expect(shown).toEqual(
      expect.arrayContaining([
        ...[`SKEIN_AGENT=${AGENT}`, 'SKEIN_ROLE=crew', `SKEIN_SESSION=${session}`, `GT_ROLE=${AGENT}`],
        ...['GT_CREW=max', 'GT_RIG=gastown', `GT_SESSION_UUID=${session}`, `GT_AGENT=${tool.name}`],
      ]),
    )
    expect(shown.filter((line) => /KEY|TOKEN|SECRET|SKEIN_RUN/.test(line))).toEqual([])
  })
})
