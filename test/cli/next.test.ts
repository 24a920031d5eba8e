import { expect, it } from 'vitest'
import { eventually } from '../lifecycle/workshop.js'
import { crew } from './crew.js'

it('next goes on to another agent once one was visited, and not without a visit', async () => {
  const visited: string[] = []
  const { skein, statuses } = await crew({
    handOver: async (argv, begun) => {
      visited.push(argv.join(' '))
      begun?.()
      return true
    },
  })
  await skein('start', 'web/a', 'web/b')
  for (const agent of ['web/a', 'web/b']) {
    await skein('send', agent, 'hello')
    await eventually(statuses, (all) => all[agent] === 'waiting')
  }
  for (const _ of [1, 2]) expect((await skein('next', '--print')).stdout).toMatch(/^web\/a {2}waiting for /)
  expect((await skein('next')).stdout).toBe('')
  expect(await statuses()).toMatchObject({ 'web/a': 'idle', 'web/b': 'waiting' })
  expect((await skein('next')).stdout).toBe('')
  expect(visited.map((argv) => /web[-_/]\w/.exec(argv)?.[0])).toEqual([
    expect.stringMatching(/a$/),
    expect.stringMatching(/b$/),
  ])
  expect((await skein('next')).stdout).toBe('No agent waits for you\n')
  await skein('send', 'web/b', 'again')
  await eventually(statuses, (all) => all['web/b'] === 'waiting')
  await skein('attach', 'b')
  expect(await statuses()).toMatchObject({ 'web/b': 'idle' })
})
