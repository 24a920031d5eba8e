import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { conversationKey, parseAgentName, parseKey, threadKey } from '../../src/conversations/index.js'

describe('a key is read as', () => {
  it.each([
    ['agent:main:main', { kind: 'main' }],
    ['agent:main:discord:dm:user123', { kind: 'dm', channel: 'discord', id: 'user123' }],
    ['agent:main:dm:user123', { kind: 'dm', id: 'user123' }],
    ['agent:main:telegram:work:dm:42', { kind: 'dm', channel: 'telegram', account: 'work', id: '42' }],
    ['agent:main:slack:group:g1', { kind: 'group', channel: 'slack', id: 'g1' }],
    ['agent:main:discord:channel:99', { kind: 'channel', channel: 'discord', id: '99' }],
    ['agent:main:discord:channel:99:thread:7', { kind: 'channel', channel: 'discord', id: '99', thread: '7' }],
    ['agent:main:msteams:group:19:abc@thread.v2', { kind: 'group', channel: 'msteams', id: '19:abc@thread.v2' }],
    ['agent:main:subagent:worker1:task123', { kind: 'subagent', id: 'worker1:task123' }],
    ['agent:main:cron:nightly:run:r1', { kind: 'cron', id: 'nightly:run:r1' }],
    ['agent:main:hook:h1', { kind: 'hook', id: 'h1' }],
    ['agent:main:demo', { kind: 'named', id: 'demo' }],
    ['agent:main:main:thread:9', { kind: 'main', thread: '9' }],
  ])('%s', (text, parts) => {
    expect(parseKey(text)).toEqual({ key: text, agent: 'main', ...parts })
  })
})

describe('a key is spelled in one way:', () => {
  it.each([
    ['  AGENT:Main:Discord:DM:User123 ', 'agent:main:discord:dm:user123'],
    ['agent:main:discord:direct:u1', 'agent:main:discord:dm:u1'],
    ['agent:main:telegram:group:-100:topic:7', 'agent:main:telegram:group:-100:thread:7'],
    ['agent:main:matrix:room:!AbC:Server.org:thread:$EvEnT', 'agent:main:matrix:channel:!AbC:Server.org:thread:$EvEnT'],
    ['agent:main:signal:group:AbC/d+e=', 'agent:main:signal:group:AbC/d+e='],
    ['agent:main:signal:dm:+4912', 'agent:main:signal:dm:+4912'],
  ])('%s', (text, normal) => {
    expect(parseKey(text).key).toBe(normal)
    expect(parseKey(normal).key).toBe(normal)
  })
})

const LONG = 'x'.repeat(300)
describe('a malformed key is refused, and never becomes a key of another agent:', () => {
  it.each([
    '',
    'main',
    'global',
    'agent',
    'agent:',
    'agent:main',
    'agent:main:',
    'agent::main',
    'agent:main::x',
    'agent:main:discord:dm:',
    'agent:main:discord:dm',
    'agent:main:group:x:',
    'agent:main:subagent',
    'agent:main:cron:',
    'agents:main:main',
    'agent:ma in:main',
    'agent:../../etc:main',
    'agent:__proto__:main',
    'agent:main:__proto__',
    '__proto__',
    'constructor',
    '../../etc/x',
    'agent:main:discord:dm:../../etc/x',
    'agent:main:discord:dm:..',
    'agent:main:discord:dm:a\\b',
    'agent:main:discord:dm:a\0b',
    'agent:main:discord:dm:a\nb',
    `agent:main:discord:dm:${LONG}`,
    `agent:${LONG}:main`,
  ])('%j', (text) => {
    expect(() => parseKey(text)).toThrow(expect.objectContaining({ code: 'bad-key' }))
  })

  it('and so is any text that is no key: reading gives the agent that is written, or throws', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60, unit: 'binary' }), (tail) => {
        let agent: string | undefined
        try {
          agent = parseKey(`agent:codex:${tail}`).agent
        } catch {
          return
        }
        expect(agent).toBe('codex')
      }),
    )
  })
})

describe('building a key', () => {
  it('gives what reading it says', () => {
    expect(conversationKey({ agent: 'main', kind: 'dm', channel: 'discord', peer: 'U1' })).toBe(
      'agent:main:discord:dm:u1',
    )
    expect(conversationKey({ agent: 'main', kind: 'group', channel: 'slack', id: 'G', thread: 17.5 })).toBe(
      'agent:main:slack:group:g:thread:17.5',
    )
    expect(conversationKey({ agent: 'main', kind: 'cron', id: 'job', run: 'r' })).toBe('agent:main:cron:job:run:r')
    expect(threadKey(conversationKey({ agent: 'main', kind: 'main' }), 9)).toBe('agent:main:main:thread:9')
  })

  it('refuses a peer whose id would change the meaning of the key', () => {
    expect(() => conversationKey({ agent: 'main', kind: 'dm', channel: 'discord', peer: 'a:thread:b' })).toThrow(
      /read as another part/,
    )
    expect(() => conversationKey({ agent: 'main', kind: 'dm', channel: 'subagent', peer: 'x' })).toThrow(
      /read as another part/,
    )
    expect(() => conversationKey({ agent: 'a:main', kind: 'main' })).toThrow()
    expect(() => threadKey(parseKey('agent:main:main').key, 'x:thread:y')).toThrow()
  })
})

describe('an agent id', () => {
  it('is folded, and refused when it could name another directory', () => {
    expect(parseAgentName(' Codex ')).toBe('codex')
    for (const text of ['', '..', '../main', 'a/b', '__proto__', 'a\0', LONG, 'ä', '.hidden', '-x']) {
      expect(() => parseAgentName(text)).toThrow(expect.objectContaining({ code: 'bad-id' }))
    }
  })
})
