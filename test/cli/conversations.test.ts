import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ConversationStore } from '../../src/conversations/index.js'
import { type } from './typed.js'
import { buildWorld, copyWorld, daemonUnder, profilesUnder, scratch } from './world.js'

const ADA = 'agent:main:discord:dm:ada'

describe('skein conversations', () => {
  const world = scratch()
  beforeAll(() => buildWorld(join(world.path, 'master')))
  afterAll(() => world[Symbol.dispose]())

  /** Types into a home of its own. */
  function home() {
    const own = scratch()
    const root = join(own.path, 'home')
    copyWorld(join(world.path, 'master'), root)
    const store = join(root, 'profiles/default/conversations')
    const typed = (...args: string[]) =>
      type(['conversations', ...args], {
        profiles: profilesUnder(root),
        daemon: daemonUnder(root),
        cwd: root,
        now: Date.now,
      })
    return { root, store, typed, [Symbol.dispose]: () => own[Symbol.dispose]() }
  }

  it('list shows every agent, or one, or one kind', async () => {
    using own = home()
    const keys = async (...args: string[]) =>
      JSON.parse((await own.typed('list', '--json', ...args)).stdout).conversations.map(
        ({ key }: { key: string }) => key,
      )
    expect(await keys()).toHaveLength(6)
    expect(await keys('--agent', 'codex')).toEqual(['agent:codex:discord:dm:ada'])
    expect(await keys('--kind', 'cron')).toEqual(['agent:main:cron:nightly'])
    expect((await own.typed('list', '--agent', 'nobody')).stdout).toBe('No conversations\n')
    expect(new ConversationStore({ directory: own.store }).agents()).not.toContain('nobody') // asking makes nothing
  })

  it('show prints what was said, and refuses what is no key or not there', async () => {
    using own = home()
    expect((await own.typed('show', ADA)).stdout).toContain('user: What is a skein?')
    expect(await own.typed('show', 'agent:nobody:main')).toMatchObject({ exitCode: 1, stdout: '' })
    for (const key of ['../../etc/x', '__proto__', `agent:main:${'x'.repeat(300)}`]) {
      expect(await own.typed('show', key)).toMatchObject({ exitCode: 2, stdout: '' })
    }
  })

  it('reset refuses an old revision and says the current one', async () => {
    using own = home()
    const { conversation } = JSON.parse((await own.typed('show', ADA, '--json')).stdout)
    const late = await own.typed('reset', ADA, '--revision', '1')
    expect(late).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(conversation.revision) })
    expect(await own.typed('reset', ADA, '--revision', conversation.revision)).toMatchObject({ exitCode: 0 })
    expect(await own.typed('show', ADA)).toMatchObject({ exitCode: 1 })
  })

  it('set changes fields, checks each of them, and changes all or none', async () => {
    using own = home()
    const set = (...args: string[]) => own.typed('set', ADA, '--json', ...args)
    const changed = await set('sendPolicy=deny', 'modelOverride=claude-haiku-4-5', 'queueCap=7', 'lastTo=user:9')
    expect(JSON.parse(changed.stdout).entry).toMatchObject({
      sendPolicy: 'deny',
      modelOverride: 'claude-haiku-4-5',
      queueCap: 7,
      deliveryContext: { to: 'user:9' },
    })
    const { entry } = JSON.parse((await set('modelOverride=')).stdout)
    expect(entry).not.toHaveProperty('modelOverride')
    for (const bad of ['sendPolicy=maybe', 'queueCap=many', 'sessionId=x', 'constructor=x', 'label']) {
      expect(await set('label=changed', bad)).toMatchObject({ exitCode: 2, stdout: '' })
    }
    expect(await set()).toMatchObject({ exitCode: 2 })
    expect(await set('label=late', '--revision', '1')).toMatchObject({ exitCode: 1 })
    expect(JSON.parse((await own.typed('show', ADA, '--json')).stdout).entry).toEqual(entry)
    expect(await own.typed('set', 'agent:main:none', 'label=x')).toMatchObject({ exitCode: 1 })
  })

  it('remove takes the entry and keeps the transcript, unless it is to go too', async () => {
    using own = home()
    const { removed } = JSON.parse((await own.typed('remove', ADA, '--json')).stdout)
    expect(removed).toMatchObject({ key: ADA, reason: 'deleted', archived: [expect.stringContaining('.deleted.')] })
    expect(readFileSync(removed.archived[0], 'utf8')).toContain('What is a skein?')
    expect(await own.typed('show', ADA)).toMatchObject({ exitCode: 1 })
    expect(await own.typed('remove', ADA)).toMatchObject({ exitCode: 1 })
  })

  it('reset and prune name what is in use and leave it alone', async () => {
    using own = home()
    using store = new ConversationStore({ directory: own.store })
    using _turn = await store.open('main').lockTurn('agent:main:cron:nightly')
    expect((await own.typed('reset', '--kind', 'cron')).stdout).toContain('in use, skipped: agent:main:cron:nightly')
    const pruned = JSON.parse((await own.typed('prune', '--kind', 'cron', '--max', '1', '--json')).stdout)
    expect(pruned.busy).toEqual(['agent:main:cron:nightly'])
  })

  it('reset and prune do not guess what is meant', async () => {
    using own = home()
    expect(await own.typed('reset')).toMatchObject({ exitCode: 2 })
    expect(await own.typed('prune')).toMatchObject({ exitCode: 2 })
    expect(await own.typed('reset', ADA, 'agent:main:cron:nightly', '--revision', '1')).toMatchObject({ exitCode: 2 })
  })

  it('policy test says which rule decided, and refuses a policy it does not understand', async () => {
    using own = home()
    const rules = [{ match: { channel: 'slack' }, action: 'deny' }]
    writeFileSync(join(own.root, 'policy.json'), JSON.stringify({ session: { sendPolicy: { rules } } }))
    const test = (key: string, policy: string) => own.typed('policy', 'test', key, '--policy', policy)
    const file = join(own.root, 'policy.json')
    expect((await test('agent:main:slack:group:team', 'policy.json')).stdout).toBe(`deny: rule 1 of ${file} matches\n`)
    expect((await test(ADA, '{"default":"deny"}')).stdout).toBe("allow: the conversation's own setting\n")
    expect(await test(ADA, '{"rulez":[]}')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('rulez') })
    expect(await test(ADA, 'missing.json')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('missing.json'),
    })
  })

  it('policy test follows config.toml, and names the file and the rule', async () => {
    using own = home()
    const file = join(own.root, 'config.toml')
    writeFileSync(file, '[[conversations.send_policy.rules]]\nmatch = { channel = "slack" }\naction = "deny"\n')
    const key = 'agent:main:slack:group:team'
    expect((await own.typed('policy', 'test', key)).stdout).toBe(`deny: rule 1 of ${file} matches\n`)
    expect(JSON.parse((await own.typed('policy', 'test', key, '--json')).stdout)).toEqual({
      key,
      decision: 'deny',
      by: 'rule',
      rule: 0,
      file,
    })
    writeFileSync(file, '[conversations.send_policy]\nrulez = []\n')
    expect(await own.typed('policy', 'test', key)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('rulez is no setting of conversations.send_policy'),
    })
  })

  it('works on the files of another program with --files', async () => {
    using own = home()
    const sessions = join(own.root, 'state/agents/main/sessions')
    mkdirSync(sessions, { recursive: true })
    writeFileSync(join(sessions, 'sessions.json'), JSON.stringify({ [ADA]: { sessionId: 's', updatedAt: 1 } }))
    expect((await own.typed('list', '--files', 'state')).stdout).toContain(ADA)
    await own.typed('prune', '--older-than', '1d', '--files', 'state')
    expect(readFileSync(join(sessions, 'sessions.json'), 'utf8')).toBe('{}')
    writeFileSync(join(sessions, 'sessions.json'), '')
    expect(await own.typed('list', '--files', 'state')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('cannot be read'),
    })
  })
})
