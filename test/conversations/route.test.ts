import { describe, expect, it } from 'vitest'
import type { EntryPatch } from '../../src/conversations/index.js'
import { BACKENDS, openStore } from './scratch.js'

const KEY = 'agent:main:discord:dm:u1'
const FULL = { channel: 'discord', to: 'user:1', accountId: 'bot', threadId: 7 }
const BOTH = {
  deliveryContext: FULL,
  lastChannel: 'discord',
  lastTo: 'user:1',
  lastAccountId: 'bot',
  lastThreadId: 7,
}

describe.each(BACKENDS)('the route of a reply on the %s backend', (backend) => {
  const open = () => openStore(backend).open('main')

  it('is set by route, which keeps what it does not name', async () => {
    const main = open()
    expect((await main.route(KEY, { channel: ' Discord ', to: 'user:1' })).entry).toMatchObject({
      deliveryContext: { channel: 'discord', to: 'user:1' },
      lastChannel: 'discord',
      lastTo: 'user:1',
    })
    expect((await main.route(KEY, { accountId: 'bot', threadId: 7 })).entry).toMatchObject(BOTH)
  })

  it('follows each message that comes in: recipient, account, thread', async () => {
    const main = open()
    await main.receive(KEY, { text: 'hi', channel: 'discord', to: 'user:1', accountId: 'bot', threadId: 7 })
    expect((await main.get(KEY))?.entry).toMatchObject(BOTH)
    await main.receive(KEY, { text: 'again' })
    expect((await main.get(KEY))?.entry).toMatchObject(BOTH)
    await main.receive(KEY, { text: 'from elsewhere', to: 'user:2' })
    expect((await main.get(KEY))?.entry).toMatchObject({
      lastTo: 'user:2',
      deliveryContext: { ...FULL, to: 'user:2' },
    })
  })

  const CASES: [string, EntryPatch, object][] = [
    ['the structured form', { deliveryContext: FULL }, BOTH],
    ['the structured form, in part', { deliveryContext: { to: 'user:2' } }, { deliveryContext: { to: 'user:2' } }],
    ['one older field', { lastTo: 'user:2' }, { lastTo: 'user:2', deliveryContext: { ...FULL, to: 'user:2' } }],
    ['an older field removed', { lastThreadId: undefined }, { deliveryContext: { ...FULL, threadId: undefined } }],
  ]
  it.each(CASES)('stays in step in both forms when a patch names %s', async (_, patch, expected) => {
    const main = open()
    await main.route(KEY, FULL)
    const { entry } = await main.patch(KEY, patch)
    expect(entry).toMatchObject(JSON.parse(JSON.stringify(expected)))
    const { channel, to, accountId, threadId } = entry.deliveryContext ?? {}
    expect([entry.lastChannel, entry.lastTo, entry.lastAccountId, entry.lastThreadId]).toEqual([
      channel,
      to,
      accountId,
      threadId,
    ])
  })

  it('is gone from both forms when a patch removes it', async () => {
    const main = open()
    await main.route(KEY, FULL)
    const { entry } = await main.patch(KEY, { deliveryContext: undefined })
    for (const field of Object.keys(BOTH)) expect(entry).not.toHaveProperty(field)
  })
})
