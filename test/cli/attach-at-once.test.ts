import { expect, it } from 'vitest'
import { eventually } from '../lifecycle/workshop.js'
import { crew } from './crew.js'

const FORK = ['fork', 'web/a', '--turn', '1', '--chat-only', '--name', 'again', '--attach']

it('start and fork refuse --attach where there is no terminal, and change nothing', async () => {
  const { skein, statuses } = await crew({ isAttended: false })
  const before = await statuses()
  for (const args of [['start', 'web/a', '--attach'], FORK]) {
    const refused = await skein(...args)
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
    expect(refused.stderr).toBe(
      'skein: --attach needs a terminal. Leave it out, and attach later: skein attach <agent>\n',
    )
    expect(await skein(...args, '--json')).toMatchObject({ exitCode: 2, stdout: '' })
  }
  expect(await statuses()).toEqual(before)
})

it('start and fork go to the terminal of the agent when it runs', async () => {
  const visited: string[] = []
  const { skein, statuses } = await crew({
    isAttended: true,
    handOver: async (argv, begun) => {
      visited.push(argv.join(' '))
      begun?.()
      return true
    },
  })
  expect(await skein('start', 'web/a', '--attach')).toMatchObject({ exitCode: 0, stderr: '' })
  await skein('send', 'web/a', 'hello')
  await eventually(statuses, (all) => all['web/a'] === 'waiting')
  expect(await skein(...FORK)).toMatchObject({ exitCode: 0 })
  expect(visited.map((argv) => /web[-_/](\w+)$/.exec(argv)?.[1])).toEqual(['a', 'again'])
})
