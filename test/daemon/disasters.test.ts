import { expect, it } from 'vitest'
import { inParts, ScriptedHerd, untilDown } from './scripted-herd.js'

const COUNT = 30

it('thirty agents come back in their own conversations after each disaster, none twice', async () => {
  const herd = await ScriptedHerd.make('')
  const names = await herd.start(COUNT)
  await herd.startDaemon()
  const sessions = await herd.sessions()
  expect(new Set(sessions.values()).size).toBe(COUNT)
  const disasters: [string, number, () => Promise<void> | void][] = [
    ['tmux server killed', COUNT, () => herd.killTmux()],
    ['daemon killed', 0, () => herd.killDaemon()],
    [
      'both killed',
      COUNT,
      () => {
        herd.killDaemon()
        herd.killTmux()
      },
    ],
    ['every child process killed', COUNT, () => herd.killChildren()],
  ]
  let deaths = 0
  for (const [what, down, strike] of disasters) {
    const before = herd.resumed().length
    await strike()
    if (down > 0) await untilDown(herd, names)
    const receipts = await herd.agents.recover({ spacingMs: 0 })
    const came = receipts.map(({ agent, outcome, session_id }) => [agent.address, outcome, session_id])
    expect([what, came]).toEqual([what, names.slice(0, down).map((name) => [name, 'resumed', sessions.get(name)])])
    const resumed = herd.resumed().slice(before)
    expect([what, [...resumed].sort()]).toEqual([what, down === 0 ? [] : [...sessions.values()].sort()])
    expect(await herd.sessions()).toEqual(sessions)
    // One program each, and its child: nothing of the run before is left.
    const running = [...(await herd.all()).values()].flatMap(({ run }) => (run && !run.ended_at ? [run.id] : []))
    const marked = herd.processes()
    expect([what, running.length]).toEqual([what, COUNT])
    expect([what, new Set(marked.map(({ run }) => run))]).toEqual([what, new Set(running)])
    deaths += down
    expect([what, (await herd.events('session_death')).length]).toEqual([what, deaths])
    await herd.startDaemon()
    expect(await herd.agents.recover({ spacingMs: 0 })).toEqual([])
  }
  await inParts(names, (name) => herd.agents.down(name))
  expect(herd.processes()).toEqual([])
  const up = await herd.agents.recover({ isUp: true, spacingMs: 0 })
  expect(up.map(({ agent, session_id }) => [agent.address, session_id])).toEqual([...sessions].sort())
})
