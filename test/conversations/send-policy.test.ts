import { describe, expect, it } from 'vitest'
import { explainSendPolicy, resolveSendPolicy, type SendPolicyConfig } from '../../src/conversations/index.js'

const policy: SendPolicyConfig = {
  default: 'allow',
  rules: [
    { match: { channel: 'discord', chatType: 'group' }, action: 'deny' },
    { match: { keyPrefix: 'agent:main:slack' }, action: 'allow' },
    { match: { channel: 'slack' }, action: 'deny' },
  ],
}
const cfg = { session: { sendPolicy: policy } }

describe('send policy is decided', () => {
  it('first by the word of the conversation itself', () => {
    const sessionKey = 'agent:main:discord:group:123'
    expect(explainSendPolicy({ cfg, sessionKey, entry: { sendPolicy: 'allow' } })).toEqual({
      decision: 'allow',
      by: { kind: 'override' },
    })
    expect(resolveSendPolicy({ cfg, sessionKey: 'agent:main:slack:dm:1', entry: { sendPolicy: 'deny' } })).toBe('deny')
  })

  it('then by the first rule that matches, in order', () => {
    expect(explainSendPolicy({ cfg, sessionKey: 'agent:main:discord:group:123' })).toEqual({
      decision: 'deny',
      by: { kind: 'rule', rule: 0 },
    })
    expect(explainSendPolicy({ cfg, sessionKey: 'agent:main:slack:dm:1' })).toEqual({
      decision: 'allow',
      by: { kind: 'rule', rule: 1 },
    })
    expect(explainSendPolicy({ cfg, sessionKey: 'agent:codex:slack:dm:1' })).toEqual({
      decision: 'deny',
      by: { kind: 'rule', rule: 2 },
    })
  })

  it('then by the default, then allows', () => {
    expect(explainSendPolicy({ cfg, sessionKey: 'agent:main:telegram:dm:1' })).toEqual({
      decision: 'allow',
      by: { kind: 'default' },
    })
    expect(
      resolveSendPolicy({
        cfg: { session: { sendPolicy: { default: 'deny' } } },
        sessionKey: 'agent:main:telegram:dm:1',
      }),
    ).toBe('deny')
    expect(explainSendPolicy({ sessionKey: 'agent:main:telegram:dm:1' })).toEqual({
      decision: 'allow',
      by: { kind: 'nothing-matched' },
    })
  })
})

describe('a rule', () => {
  const decide = (match: object, question: object) =>
    resolveSendPolicy({ cfg: { session: { sendPolicy: { rules: [{ match, action: 'deny' }] } } }, ...question })
  it('needs all it names, from the call, the entry or the key', () => {
    expect(decide({ channel: 'discord', chatType: 'dm' }, { sessionKey: 'agent:main:discord:dm:1' })).toBe('deny')
    expect(decide({ channel: 'discord', chatType: 'dm' }, { sessionKey: 'agent:main:discord:group:1' })).toBe('allow')
    expect(decide({ channel: 'slack' }, { sessionKey: 'agent:main:main', entry: { lastChannel: 'Slack' } })).toBe(
      'deny',
    )
    expect(decide({ channel: 'slack' }, { sessionKey: 'agent:main:discord:dm:1', channel: 'slack' })).toBe('deny')
  })
  it('takes direct for dm, and a prefix with or without the agent', () => {
    expect(decide({ chatType: 'direct' }, { sessionKey: 'agent:main:discord:dm:1' })).toBe('deny')
    expect(decide({ keyPrefix: 'discord:' }, { sessionKey: 'agent:main:Discord:dm:1' })).toBe('deny')
    expect(decide({ keyPrefix: 'cron:' }, { sessionKey: 'agent:main:cron:nightly' })).toBe('deny')
  })
  it('that names nothing matches everything; one without an action allows', () => {
    expect(decide({}, { sessionKey: 'agent:main:main' })).toBe('deny')
    expect(resolveSendPolicy({ cfg: { session: { sendPolicy: { default: 'deny', rules: [{ match: {} }] } } } })).toBe(
      'allow',
    )
  })
})
