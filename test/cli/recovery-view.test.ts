import { expect, it } from 'vitest'
import { downNote } from '../../src/cli/views/recovery-view.js'
import { parseAddress } from '../../src/model/index.js'

const down = (address: string, isParked = false): Parameters<typeof downNote>[0][number] => ({
  address: parseAddress(address),
  status: 'error',
  reason: 'killed by signal 9',
  down: 'crashed',
  ...(isParked ? { parked: { kind: 'loop' as const, reason: 'it ended 2 times', next: '' } } : {}),
})

it('the line about agents that are down names a command that brings them back, also those that the watchdog has parked', () => {
  const after = (...agents: ReturnType<typeof down>[]) => downNote(agents)?.replace(/^.*back: /, '')
  expect(after(down('web/a'), down('web/b'))).toBe('skein recover')
  expect(after(down('web/a', true))).toBe('skein recover web/a')
  expect(after(down('web/a', true), down('web/b'))).toBe(
    'skein recover --all (without --all it leaves the one that the watchdog has parked)',
  )
  expect(after(down('web/a', true), down('web/b', true))).toContain('leaves the 2 that the watchdog has parked')
})
