import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { crew } from './crew.js'

it('recover --dry-run says what it would do, and recover what it did', async () => {
  const { root, skein, statuses } = await crew()
  expect((await skein('start', 'web/a', 'web/b')).exitCode).toBe(0)
  const { agents } = (await skein('list', '--json')).document
  for (const { pid } of agents) if (pid !== undefined) process.kill(pid, 'SIGKILL')
  for (let seen = await statuses(); seen['web/a'] !== 'error' || seen['web/b'] !== 'error'; seen = await statuses())
    await sleep(50)
  rmSync(join(root, 'web/b'), { recursive: true })
  const plan = await skein('recover', '--dry-run')
  expect(plan.exitCode).toBe(0)
  expect(plan.stdout).toMatch(/^web\/a: would start fresh: .+; nothing was started \(crashed: .+\)$/m)
  expect(plan.stdout).toMatch(/^web\/b: would refuse: There is no directory .+ \(crashed: .+\)$/m)
  expect((await skein('recover', '--dry-run', '--json')).document).toMatchObject({
    dry_run: true,
    receipts: [{ outcome: 'fresh' }, { outcome: 'refused' }],
  })
  const done = await skein('recover', '--spacing', '0s')
  expect(done.exitCode).toBe(1)
  expect(done.stdout).toMatch(/^web\/a: fresh [0-9a-f-]+: .+; process \d+ runs \(crashed: .+\)$/m)
  expect(done.stdout).toMatch(/^web\/b: refused: There is no directory .+ \(crashed: .+\)$/m)
})

it('recover of agents that were stopped leaves them, and names the command that starts each', async () => {
  const { skein } = await crew()
  expect((await skein('start', 'web/a', 'web/b')).exitCode).toBe(0)
  await skein('stop', 'web/a')
  await skein('down')
  const { stdout } = await skein('recover', 'web/a', 'web/b')
  expect(stdout).toMatch(/^web\/a: stopped .+; skein start web\/a starts it$/m)
  expect(stdout).toMatch(/^web\/b: stopped .+; skein up starts it$/m)
})
