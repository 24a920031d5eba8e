import { expect, it } from 'vitest'
import { receiptView } from '../../src/cli/views/receipt-view.js'
import { agentLine } from '../../src/cli/views/receipts-view.js'
import type { AgentView } from '../../src/lifecycle/index.js'

it('a receipt begins with a capital, except where it begins with an address', () => {
  const agent = { address: 'web/shop' } as AgentView
  expect(receiptView({ agent, did: 'stopped web/shop', how: 'it exited' })).toBe('Stopped web/shop: it exited')
  expect(receiptView({ agent, did: 'web/shop now runs codex', how: 'it already did' })).toBe(
    'web/shop now runs codex: it already did',
  )
})

it('the line of an agent that asks says what it asks, not only that it does', () => {
  const since = '2026-01-17T08:00:00.000Z'
  const agent = {
    address: 'web/shop',
    status: 'waiting',
    waiting_for: 'permission',
    source: 'hook',
    since,
  } as AgentView
  const screen = { width: 80, nowMs: Date.parse(since) + 3_000 } as Parameters<typeof agentLine>[1]
  const asks = [
    { kind: 'permission', tool: 'Bash', what: 'rm -rf build\u001b[2J', token: 'permission-1-a', options: [] },
  ]
  const line = (more: object): string => agentLine({ ...agent, ...more } as AgentView, screen)
  expect(line({ reason: 'permission prompt: Bash', asks })).toMatch(/^web\/shop is waiting for 3s: Bash: rm -rf build/)
  expect(line({ reason: 'permission prompt: Bash', asks })).not.toContain('\u001b')
  expect(line({ reason: 'permission prompt: Bash' })).toBe('web/shop is waiting for 3s: permission prompt: Bash')
  expect(line({})).toBe('web/shop is waiting for 3s: permission')
})
