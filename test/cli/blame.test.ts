import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type } from './typed.js'
import { agentsUnder, buildWorld, daemonUnder, profilesUnder, scratch } from './world.js'

it('names the turn and the prompt of a line, the commit, and who it was since; one line alone', async () => {
  using own = scratch()
  const root = join(own.path, 'home')
  mkdirSync(root)
  await buildWorld(root)
  const outside = {
    profiles: profilesUnder(root),
    agents: agentsUnder(root),
    daemon: daemonUnder(root),
    privacyFile: join(root, 'privacy.yaml'),
    cwd: root,
    now: Date.now,
  }
  const whole = JSON.parse((await type(['blame', 'captured/README.md', '--json'], outside)).stdout)
  expect(whole).toMatchObject({
    path: 'README.md',
    writers: [
      { kind: 'commit', author: 'Ada', summary: 'first' },
      { kind: 'turn', session: '22222222-2222-4222-8222-222222222222', turn: 2, prompt: expect.any(String) },
    ],
    lines: [
      { number: 1, text: 'hello', writer: 0 },
      { number: 2, text: 'world', writer: 1 },
    ],
  })
  const one = JSON.parse((await type(['blame', 'captured/README.md:2', '--json'], outside)).stdout)
  expect(one.lines).toEqual([{ number: 2, text: 'world', writer: 0 }])
  const shown = await type(['blame', 'captured/README.md'], outside)
  expect(shown.stdout).toMatch(/22222222 +2 .* world/)
  const none = await type(['blame', 'captured/README.md:9'], outside)
  expect(none).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('has no line 9') })
  const twice = await type(['blame', 'captured/README.md:2', '--line', '1'], outside)
  expect(twice).toMatchObject({ exitCode: 2 })
})
