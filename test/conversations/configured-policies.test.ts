import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ConversationStore, type StoreOptions } from '../../src/conversations/index.js'
import { fakeWorld, scratch } from './scratch.js'

const GROUP = 'agent:main:discord:group:7'
const DENY_GROUPS = `
[conversations.send_policy]
default = "allow"

[[conversations.send_policy.rules]]
match = { channel = "discord", chat_type = "group" }
action = "deny"
`

describe.each(['rows', 'files'] as const)('policies of config.toml, with %s', (backend) => {
  function opened(config: string, options: Partial<StoreOptions> = {}) {
    const directory = scratch()
    const configFile = join(directory, 'config.toml')
    writeFileSync(configFile, config)
    const store = new ConversationStore({
      directory: join(directory, 'store'),
      backend,
      configFile,
      ...options,
    })
    const write = (text: string): void => writeFileSync(configFile, text)
    return { store, main: store.open('main'), configFile, write }
  }

  it('decide where an agent may send, and are named', async () => {
    const { store, main, configFile } = opened(DENY_GROUPS)
    using _store = store
    await main.receive(GROUP, { text: 'hello' })
    expect(await main.sendDecision(GROUP)).toEqual({
      decision: 'deny',
      by: { kind: 'rule', rule: 0 },
      file: configFile,
    })
    expect(await main.sendDecision('agent:main:discord:dm:ada')).toEqual({
      decision: 'allow',
      by: { kind: 'default' },
      file: configFile,
    })
    await expect(main.mirror(GROUP, { text: 'hi' })).rejects.toMatchObject({ code: 'send-denied' })
  })

  it('give way to the policy that the store was opened with, and to the conversation itself', async () => {
    const { store, main } = opened(DENY_GROUPS, { sendPolicy: { default: 'allow' } })
    using _store = store
    expect(await main.sendDecision(GROUP)).toEqual({ decision: 'allow', by: { kind: 'default' } })
    await main.receive(GROUP, { text: 'hello' })
    await main.patch(GROUP, { sendPolicy: 'deny' })
    expect(await main.sendDecision(GROUP)).toEqual({ decision: 'deny', by: { kind: 'override' } })
  })

  it('are read again when the file has changed, also when it is made later', async () => {
    const { store, main, write } = opened('')
    using _store = store
    expect((await main.sendDecision(GROUP)).decision).toBe('allow')
    write(DENY_GROUPS)
    expect((await main.sendDecision(GROUP)).decision).toBe('deny')
  })

  it('say when a conversation begins anew', async () => {
    const surroundings = fakeWorld()
    const config = '[conversations.reset]\nby_channel = { discord = { idle_minutes = 60 } }\n'
    const { store, main } = opened(config, { surroundings })
    using _store = store
    const first = await main.receive(GROUP, { text: 'hello' })
    const elsewhere = await main.receive('agent:main:slack:group:7', { text: 'hello' })
    surroundings.pass(61 * 60_000)
    const { reset, row } = await main.receive(GROUP, { text: 'again' })
    expect(reset?.reason).toBe('idle')
    expect(row.entry.sessionId).not.toBe(first.row.entry.sessionId)
    const kept = await main.receive('agent:main:slack:group:7', { text: 'again' })
    expect(kept.row.entry.sessionId).toBe(elsewhere.row.entry.sessionId)
  })

  it.each([
    ['default = "maybe"', 'conversations.send_policy.default is "maybe"'],
    ['defualt = "deny"', 'defualt is no setting of conversations.send_policy'],
    ['rules = [{ match = { channel = "discord" } }]', 'action of rule 1 of conversations.send_policy is not given'],
    ['rules = [{ match = { chatType = "group" }, action = "deny" }]', 'chatType is no setting of match in rule 1'],
    ['rules = [{ match = { chat_type = "room" }, action = "deny" }]', 'chat_type in rule 1'],
    ['rules = "deny"', 'conversations.send_policy.rules is not a list'],
  ])('that cannot be understood allow nothing: %s', async (line, what) => {
    const { store, main, configFile } = opened(`[conversations.send_policy]\n${line}\n`)
    using _store = store
    const error = await main.sendDecision(GROUP).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ code: 'bad-config' })
    expect(String(error)).toContain(configFile)
    expect(String(error)).toContain(what)
  })

  it.each([
    ['daily_at_hour = 24', 'daily_at_hour is not an hour'],
    ['idle_minutes = "60"', 'idle_minutes is not a number of minutes'],
    ['by_type = { room = { idle_minutes = 5 } }', 'room is no setting of conversations.reset.by_type'],
    ['by_channel = { discord = { hourly = true } }', 'hourly is no setting of conversations.reset.by_channel.discord'],
  ])('a reset rule that cannot be understood is an error: %s', async (line, what) => {
    const { store, main } = opened(`[conversations.reset]\n${line}\n`)
    using _store = store
    await expect(main.receive(GROUP, { text: 'hello' })).rejects.toThrow(what)
  })
})
