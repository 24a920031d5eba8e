import { expect, it } from 'vitest'
import { stopDaemon } from '../../src/daemon/index.js'
import { pause } from './scratch.js'
import { ScriptedHerd } from './scripted-herd.js'

/** Ends the program of an agent by SIGTERM, on which it exits with 0, and waits until that is recorded. */
async function exited(herd: ScriptedHerd, name: string): Promise<void> {
  const { run } = (await herd.all()).get(name) ?? {}
  process.kill(run?.pid ?? 0, 'SIGTERM')
  for (;;) {
    const end = (await herd.all()).get(name)?.run?.end
    if (end) return expect([name, end.how, end.exit_status]).toEqual([name, 'exited', 0])
    await pause(20)
  }
}

const isDaemonGone = async (herd: ScriptedHerd): Promise<void> => {
  while (herd.hasDaemon()) await pause(20)
}

it('an agent that exits with 0 while its tmux server and the daemon are ended by the system counts as lost, and comes back', async () => {
  const herd = await ScriptedHerd.make('[watchdog]\nrespawn = "never"\n')
  const [gone = '', later = '', stopped = ''] = await herd.start(3)
  await herd.startDaemon()
  const sessions = await herd.sessions()
  await herd.agents.stop(stopped)
  await exited(herd, gone)
  herd.killTmux('SIGTERM')
  herd.killDaemon('SIGTERM')
  await isDaemonGone(herd)
  const { run, status } = (await herd.all()).get(gone) ?? {}
  expect([run?.end?.how, status?.status]).toEqual(['lost', 'error'])
  const back = await herd.agents.recover({ spacingMs: 0 })
  expect(back.map(({ agent, outcome, session_id }) => [agent.address, outcome, session_id])).toEqual([
    [gone, 'resumed', sessions.get(gone)],
    [later, 'resumed', sessions.get(later)],
  ])
  const deaths = (await herd.events('session_death')).map(({ agent, payload }) => [agent, payload.how])
  expect(deaths.sort()).toEqual([
    [gone, 'lost'],
    [later, 'lost'],
  ])
})

it.each([
  ['its tmux server goes on', (herd: ScriptedHerd) => herd.killDaemon('SIGTERM')],
  ['the daemon is stopped by its user', (herd: ScriptedHerd) => stopDaemon(herd.access)],
])('one that exits with 0 has left by itself, where %s', async (_, end) => {
  const herd = await ScriptedHerd.make('[watchdog]\nrespawn = "never"\n')
  const [gone = '', other = ''] = await herd.start(2)
  await herd.startDaemon()
  await exited(herd, gone)
  await end(herd)
  await isDaemonGone(herd)
  expect((await herd.all()).get(gone)?.run?.end?.how).toBe('exited')
  expect(await herd.agents.recover({ spacingMs: 0 })).toEqual([])
  expect((await herd.agents.list()).find(({ address }) => address === other)?.status).toBe('idle')
})
