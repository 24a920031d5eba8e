import { expect, it } from 'vitest'
import { pause } from './scratch.js'
import { inParts, ScriptedHerd, tryKill } from './scripted-herd.js'

const COUNT = 20
const LIMIT = 3
/** `CHAOS_SECONDS=300` is the long run. */
const SECONDS = Number(process.env.CHAOS_SECONDS ?? 20)
const SEED = Number(process.env.CHAOS_SEED ?? 4711)

/** The same sequence for the same seed. */
function randomBy(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

it('while agents, tmux and the daemon are killed at random, no work is lost or doubled, every death has a cause, and nothing is left running', {
  timeout: (SECONDS + 280) * 1_000,
}, async () => {
  const herd = await ScriptedHerd.make(
    `[recover]\nspacing = 0\n[watchdog]\nrespawn = "on-crash"\nbackoff = "1s"\nmax_backoff = "4s"\nlimit = ${LIMIT}\n`,
  )
  const names = await herd.start(COUNT)
  const sessions = await herd.sessions()
  for (const agent of await herd.home.roster.agents()) {
    const { id } = await herd.home.work.add({ title: `the work of ${agent.address}` })
    await herd.home.work.hook(id, agent)
  }
  const units = await herd.home.work.list()
  expect(units).toHaveLength(COUNT)
  await herd.startDaemon()
  const random = randomBy(SEED)
  const done = { agents: 0, tmux: 0, daemon: 0, recover: 0 }
  for (const end = performance.now() + SECONDS * 1_000; performance.now() < end; ) {
    const dice = random()
    const chosen = names[Math.trunc(random() * COUNT)] ?? ''
    if (dice < 0.8) {
      const run = (await herd.all()).get(chosen)?.run
      if (run && !run.ended_at) tryKill(run.pid)
      done.agents += 1
    } else if (dice < 0.87) {
      herd.killTmux()
      done.tmux += 1
    } else if (dice < 0.94) {
      herd.killDaemon()
      await herd.startDaemon()
      done.daemon += 1
    } else {
      await herd.agents.recover({ all: true, spacingMs: 0 }).catch(busy)
      done.recover += 1
    }
    await pause(50 + Math.trunc(random() * 450))
  }
  expect(Math.min(done.agents, done.tmux + done.daemon)).toBeGreaterThan(0)

  // Whoever is still down or parked is brought back by hand.
  const isUp = async (): Promise<boolean> =>
    [...(await herd.all()).values()].every(({ run, launching }) => run && !run.ended_at && !launching)
  do {
    await herd.agents.recover({ all: true, spacingMs: 0 }).catch(busy)
    await herd.agents.list()
  } while (!(await isUp()))
  expect(await herd.sessions()).toEqual(sessions)
  const now = await herd.home.work.list()
  const held = (of: typeof units) => of.map(({ id, agent, status }) => ({ id, agent, status }))
  expect(held(now)).toEqual(held(units))

  const started = (await herd.events('agent_started')).map(({ payload }) => payload.run as { id: string })
  const deaths = (await herd.events('session_death')).map(({ payload }) => payload)
  const live = new Set([...(await herd.all()).values()].map(({ run }) => run?.id))
  const over = started.map(({ id }) => id).filter((id) => !live.has(id))
  expect(deaths.map(({ run }) => run).sort()).toEqual(over.sort())
  for (const { reason } of deaths)
    expect(reason).toMatch(/^(killed by signal 9|the tmux server is gone|its pane is gone|exited)/)
  const respawns = (await herd.events('spawn')).map(({ payload }) => Number(payload.respawn ?? 0))
  expect(Math.max(...respawns)).toBeLessThanOrEqual(LIMIT)
  const marked = herd.processes()
  expect(marked.filter(({ run }) => !live.has(run))).toEqual([])
  expect(new Set(marked.map(({ run }) => run))).toEqual(live)
  await inParts(names, (name) => herd.agents.down(name))
  expect(herd.processes()).toEqual([])
  const causes: Record<string, number> = {}
  for (const { reason } of deaths) causes[String(reason)] = (causes[String(reason)] ?? 0) + 1
  const figures = {
    deaths: deaths.length,
    causes,
    starts: started.length,
    respawns: respawns.filter((one) => one > 0).length,
  }
  console.log(
    `chaos: ${SECONDS} s, seed ${SEED}, ${JSON.stringify({ ...done, ...figures })}, 0 orphans, 0 lost, 0 doubled`,
  )
})

/** Another one that recovers, or starts this agent, goes on. */
function busy(error: Error & { code?: string }): void {
  if (error.code !== 'agent-busy') throw error
}
