import { expect, it } from 'vitest'
import { objectAt } from '../src/tools/json-value.js'
import { until } from './skein.js'
import { claude } from './tools/claude.js'
import { User } from './user.js'

it('a unit that is slung to Claude Code is begun: the first request has the beacon and the unit', async () => {
  await using user = await User.of([claude], { settings: () => ['default_tool = "claude"'] })
  const { skein, server, scratch } = user
  await skein.run('group', 'create', 'web')
  const added = await skein.run('work', 'add', 'Mend the login')
  const id = String(objectAt(added, 'work')?.id ?? added.id)
  const slung = await skein.run('sling', id, 'web', '--repo', scratch.project)
  expect(slung.how).toContain('prompt received')
  await until('its model is asked', () => server.requests.length > 0, 60_000)
  const [first] = server.requests
  expect(first?.prompts).toEqual([expect.stringMatching(/^\[SKEIN\] worker ash \(group: web\) <- .* • assigned\n/)])
  expect(first?.read).toContain('Mend the login')
})
