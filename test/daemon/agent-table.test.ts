import { expect, it } from 'vitest'
import { AgentTable } from '../../src/daemon/watch/agent-table.js'
import { unknownBy } from '../../src/lifecycle/index.js'
import type { Instant } from '../../src/model/index.js'
import { Herd } from './herd.js'

it('an agent that cannot be seen stays unknown when its file changes, until somebody has seen more', async () => {
  const herd = await Herd.make()
  const toast = await herd.add('web/toast')
  const table = new AgentTable(herd.home, herd.runs)
  await table.readAll()
  const at = new Date().toISOString() as Instant
  const verdict = unknownBy({ source: 'process', at, status: 'unknown', reason: 'it is out of sight' })
  table.saw([{ agent: toast, run: await herd.runs.read(toast.id), verdict, seen: [] }])
  const shown = () => table.seen().map(({ status }) => status)
  expect(shown()).toEqual(['unknown'])
  // As a kill does that is then refused.
  await herd.runs.update(toast, async (run) => run?.run && { next: { ...run, acked_at: at }, result: undefined })
  expect(await table.readOne(toast.id)).toBe(true)
  expect(shown()).toEqual(['unknown'])
  await herd.runs.update(toast, async (run) => {
    const status = { status: 'running', since: at, source: 'registry' } as const
    return run && { next: { ...run, status }, result: undefined }
  })
  await table.readOne(toast.id)
  expect(shown()).toEqual(['running'])
})
