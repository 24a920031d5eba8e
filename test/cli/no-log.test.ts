import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { eventually } from '../lifecycle/workshop.js'
import { crew } from './crew.js'

it('a session whose program writes no log is neither packed nor continued elsewhere, and the reason is given', async () => {
  const { root, skein, statuses } = await crew()
  await skein('start', 'web/a')
  await skein('send', 'web/a', 'hello')
  await eventually(statuses, (all) => all['web/a'] === 'waiting')
  const file = join(root, 'session.skein')
  const fork = ['fork', 'web/a', '--turn', '1', '--chat-only', '--tool', 'claude', '--name', 'other']
  for (const args of [['pack', 'web/a', '-o', file], fork]) {
    const refused = await skein(...args)
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' })
    expect(refused.stderr).toMatch(
      /writes no log: Skein knows its turns without the replies.* See its turns: skein turns/,
    )
  }
  expect(existsSync(file)).toBe(false)
  expect(Object.keys(await statuses())).not.toContain('web/other')
})
