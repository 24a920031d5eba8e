import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { runTurns } from '../../../src/history/run-turns.js'
import {
  CapturedTurns,
  capturedWith,
  captureEdge,
  edgeCapture,
  readSeance,
  turnEdges,
} from '../../../src/lifecycle/index.js'
import type { Event, Instant } from '../../../src/model/index.js'
import { parseCustomTools, RUNNERS, runnersFor } from '../../../src/tools/index.js'
import { eventually, type Workshop, workshop } from '../workshop.js'

const PROGRAM = fileURLToPath(new URL('../../workers/turn-program.mjs', import.meta.url))

/** A program of one's own, with neither hooks nor a log. */
async function started(): Promise<Workshop & { session: string }> {
  const tool = { command: [process.execPath, PROGRAM], busy_patterns: ['executing'], idle_patterns: ['line> '] }
  const builtIn = RUNNERS.map(({ name }) => name)
  const { all } = runnersFor({ custom: parseCustomTools({ lines: tool }, '/cfg/config.toml', builtIn), patterns: [] })
  const shop = await workshop({ runners: all })
  await shop.agents.start({ agent: 'toast', cwd: shop.project, tool: 'lines' })
  const { agent } = await eventually(
    () => shop.agents.why('toast'),
    (why) => why.agent.status === 'idle',
  )
  return Object.assign(shop, { session: String(agent.session_id) })
}

const idle = ({ agents }: Workshop) =>
  eventually(
    () => agents.why('toast'),
    ({ agent }) => agent.waiting_for === 'finished' || agent.status === 'idle',
  )
const finished = ({ agents }: Workshop) =>
  eventually(
    () => agents.why('toast'),
    ({ agent }) => agent.waiting_for === 'finished',
  )
/** Ends what it holds, once that is seen. */
const release = async ({ agents }: Workshop): Promise<void> => {
  const { agent } = await eventually(
    () => agents.why('toast'),
    (why) => why.agent.status === 'running',
  )
  process.kill(agent.pid ?? 0, 'SIGUSR2')
}
const turnsOf = async ({ home, session }: Workshop & { session: string }) =>
  (await home.history.turns(session)).turns.map(({ number, prompt, outcome }) => [number, prompt, outcome])

/** A repository in the agent's directory, and what the daemon does with every change of an agent's file. */
function capturing({ project, home, parts }: Workshop): () => Promise<void> {
  const env = { PATH: process.env.PATH, HOME: project }
  execFileSync('git', ['init', '-q'], { cwd: project, env })
  writeFileSync(join(project, 'a.txt'), 'one\n')
  const captured = new CapturedTurns(home.paths.snapshots)
  return async () => {
    const [run] = await parts.runs.all()
    if (!run) return
    for (const edge of turnEdges(run, captured.of(run.agent), Date.now())) {
      captured.set(run.agent, capturedWith(edge))
      await captureEdge(home, edgeCapture(edge, run))
    }
  }
}

describe('turns of a program without hooks and log', () => {
  it('begin with what is sent and end when it waits again, also when nobody has seen it work', async () => {
    const shop = await started()
    await shop.agents.send('toast', 'hello there')
    await finished(shop)
    await shop.agents.ack('toast')
    await shop.agents.send('toast', 'hold')
    await release(shop)
    await finished(shop)
    expect(await turnsOf(shop)).toEqual([
      [1, 'hello there', 'completed'],
      [2, 'hold', 'completed'],
    ])
    expect((await shop.home.history.turns(shop.session)).told_from).toBe('journal')
    // Whoever comes after it is told of them.
    const { from, text } = await readSeance(shop.home, shop.session)
    expect([from, text]).toEqual(['journal', expect.stringMatching(/first prompt of 2.*> hello there.*> hold/s)])
    const fork = { source: 'toast', turn: 1, edge: 'after', code: false, chat: true, count: 1 } as const
    const [forked] = await shop.agents.fork(fork)
    expect(forked).toMatchObject({ conversation: 'context', left_out: [] })
  })

  it('one that a person typed has no words, and a fork of it says that it has nothing of it', async () => {
    const shop = await started()
    const { pane = '' } = (await shop.agents.why('toast')).agent
    shop.tmux('send-keys', '-t', pane, 'hold', 'Enter')
    await release(shop)
    await finished(shop)
    expect(await turnsOf(shop)).toEqual([[1, '', 'completed']])
    const fork = { source: 'toast', turn: 1, edge: 'after', code: false, chat: true, count: 1 } as const
    const [forked] = await shop.agents.fork(fork)
    expect(forked).toMatchObject({ conversation: 'new', left_out: [{ what: 'turns', count: 1 }] })
  })

  it('what is sent while it works belongs to the turn that goes on', async () => {
    const shop = await started()
    await shop.agents.send('toast', 'hold')
    await eventually(
      () => shop.agents.why('toast'),
      ({ agent }) => agent.status === 'running',
    )
    await shop.agents.send('toast', 'and more')
    await release(shop)
    await finished(shop)
    expect(await turnsOf(shop)).toEqual([[1, 'hold\nand more', 'completed']])
  })

  it('one whose program is killed in it is aborted, and the next session begins with turn 1', async () => {
    const shop = await started()
    await shop.agents.send('toast', 'hold')
    await eventually(
      () => shop.agents.why('toast'),
      ({ agent }) => agent.status === 'running',
    )
    await shop.agents.kill('toast')
    expect(await turnsOf(shop)).toEqual([[1, 'hold', 'aborted']])
    const { agent } = await shop.agents.restart('toast')
    await idle(shop)
    await shop.agents.send('toast', 'again')
    await finished(shop)
    const next = Object.assign(shop, { session: String(agent.session_id) })
    expect(await turnsOf(next)).toEqual([[1, 'again', 'completed']])
  })

  it('have their code: the prompt is captured before the program has it', async () => {
    const shop = await started()
    const { project, home, session } = shop
    const capture = capturing(shop)
    await shop.agents.send('toast', 'hold')
    await capture()
    writeFileSync(join(project, 'a.txt'), 'one\ntwo\n')
    await release(shop)
    await finished(shop)
    await capture()
    await capture()
    const moments = (await home.snapshots.list(session)).map(({ moment }) => moment)
    expect(moments).toEqual(['prompt', 'stop'])
    const { turns } = await home.history.code(await home.history.turns(session))
    expect(turns.get(1)).toMatchObject({ files: 1, added: 1, removed: 0 })
    const [prompt] = await home.snapshots.list(session)
    expect(prompt?.start).toMatchObject({ tool: 'lines' })
  })
})

const at = (second: number): Instant => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString() as Instant
const event = (type: string, second: number, payload: object = {}): Event =>
  ({ type, ts: at(59), payload: { at: at(second), ...payload } }) as unknown as Event

describe('the turns of a journal', () => {
  it('have a prompt at which the program ended before it was seen at work', () => {
    const events = [
      event('turn_prompted', 1, { prompt: 'go' }),
      event('turn_began', 2, { turn: 1 }),
      event('turn_ended', 5, { how: 'finished' }),
      event('turn_prompted', 7, { prompt: 'die' }),
    ]
    expect(runTurns(events, {})).toHaveLength(1)
    expect(runTurns(events, { ended_at: at(8) })).toMatchObject([
      { number: 1, prompt: 'go', outcome: 'completed' },
      { number: 2, prompt: 'die', outcome: 'aborted', started_at: at(7), ended_at: at(8), follows: 1 },
    ])
  })

  it('count a beginning once that was recorded twice, in whatever order they were recorded', () => {
    const events = [
      event('turn_ended', 5, { how: 'finished' }),
      event('turn_began', 2, { turn: 7 }),
      event('turn_began', 2, { turn: 7 }),
      event('turn_prompted', 1, { prompt: 'go' }),
      event('turn_ended', 9, { how: 'failed' }),
      event('turn_began', 6, { turn: 8 }),
    ]
    expect(runTurns(events, {})).toMatchObject([
      { number: 7, prompt: 'go', outcome: 'completed', started_at: at(2), ended_at: at(5), duration_ms: 3_000 },
      { number: 8, prompt: '', outcome: 'failed', follows: 7 },
    ])
  })

  it('leave one open whose end nobody knows, and close it with its session', () => {
    const events = [event('turn_began', 2, { turn: 1 }), event('turn_prompted', 1, { prompt: 'go' })]
    expect(runTurns(events, {})).toMatchObject([{ outcome: 'open', prompt: 'go' }])
    expect(runTurns(events, { ended_at: at(8) })).toMatchObject([{ outcome: 'aborted', ended_at: at(8) }])
  })
})
