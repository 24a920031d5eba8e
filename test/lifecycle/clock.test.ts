import { expect, it } from 'vitest'
import { lifeOf } from '../../src/disk/index.js'
import { eventually, workshop } from './workshop.js'

/** A clock that somebody sets back whenever it is read: on it no time ever passes. */
function falling(): { now(): number; fall: boolean } {
  let ms = Date.now()
  return {
    fall: false,
    now() {
      if (this.fall) ms -= 1_000
      else ms = Date.now()
      return ms
    },
  }
}

it('a stop ends an agent that does not leave, whatever becomes of the clock', async () => {
  const clock = falling()
  const { agents, project } = await workshop({ clock })
  const { agent } = await agents.start({ agent: 'toast', cwd: project, args: ['--stubborn'] })
  clock.fall = true
  const stopped = await agents.stop('toast', { graceMs: 500 })
  expect(stopped.how).toContain('did not exit gracefully')
  await eventually(
    () => lifeOf({ pid: agent.pid ?? 0 }),
    (life) => life === 'dead',
  )
})

it('a wait that has a limit ends at it, whatever becomes of the clock', async () => {
  const clock = falling()
  const { agents, project } = await workshop({ clock })
  await agents.start({ agent: 'toast', cwd: project })
  clock.fall = true
  await expect(agents.wait('toast', { until: 'waiting', timeoutMs: 300 })).rejects.toMatchObject({ code: 'timed-out' })
})

it('text that nothing confirms is not waited for longer, whatever becomes of the clock', async () => {
  const clock = falling()
  const { agents, project } = await workshop({ clock })
  const { agent } = await agents.start({ agent: 'toast', tool: 'mute', cwd: project })
  const pid = agent.pid ?? 0
  process.kill(pid, 'SIGSTOP')
  clock.fall = true
  const sent = await agents.send('toast', 'hello').finally(() => process.kill(pid, 'SIGKILL'))
  expect(sent.delivery).toMatch(/^(typed|stalled)$/)
})
