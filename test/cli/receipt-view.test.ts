import { expect, it } from 'vitest'
import { receiptView } from '../../src/cli/views/receipt-view.js'
import type { AgentView } from '../../src/lifecycle/index.js'

it('a receipt begins with a capital, except where it begins with an address', () => {
  const agent = { address: 'web/shop' } as AgentView
  expect(receiptView({ agent, did: 'stopped web/shop', how: 'it exited' })).toBe('Stopped web/shop: it exited')
  expect(receiptView({ agent, did: 'web/shop now runs codex', how: 'it already did' })).toBe(
    'web/shop now runs codex: it already did',
  )
})
