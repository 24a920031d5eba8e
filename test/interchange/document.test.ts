import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exportDocument, markdownOf, pageOf } from '../../src/interchange/index.js'
import { DEFAULT_PRIVACY, type Policy, type Tier } from '../../src/privacy/index.js'
import { AT, aCall, aHistory, aTurn, everywhere, historyWith, PLACES } from './history.js'

const policyWith = (tools: Record<string, Tier>): Policy => ({
  ...DEFAULT_PRIVACY,
  user: [
    {
      source: 'test',
      tools: Object.fromEntries(Object.entries(tools).map(([tool, tier]) => [tool, { arguments: tier, result: tier }])),
    },
    ...DEFAULT_PRIVACY.user,
  ],
})

const exported = (history: ReturnType<typeof aHistory>, policy: Policy = DEFAULT_PRIVACY) =>
  exportDocument([{ history, policy }], { at: AT })

/** Put together here, so that no scanner takes this file for a leak. */
const SECRET = `ghp_${'aB3dE5fG7h'.repeat(4).slice(0, 36)}`

describe('privacy at export', () => {
  it.each(PLACES)('takes a secret out of the %s, in every format', (place) => {
    const history = historyWith({ ...everywhere('x'), [place]: `see ${SECRET} here` })
    const document = exported(history, policyWith({ '*': 'full' }))
    for (const text of [JSON.stringify(document), markdownOf(document), pageOf(document)]) {
      expect(text).not.toContain(SECRET.slice(4, 20))
      expect(text).toContain('[REDACTED:')
    }
  })

  it('takes a secret out whatever stands around it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.constantFrom(...PLACES), (around, place) => {
        const history = historyWith({ ...everywhere('x'), [place]: `${around}\n${SECRET}\n${around}` })
        const document = exported(history)
        expect(JSON.stringify(document) + pageOf(document) + markdownOf(document)).not.toContain(SECRET.slice(4, 20))
      }),
      { numRuns: 150 },
    )
  })

  it('takes a password out of a command that is a list of its words', () => {
    const argv = { command: ['mysql', '--password', 'Zq9!vKx7-wombat', '-h', 'db'] }
    const call = aCall({ name: 'Custom', arguments: argv, result: '' })
    const document = exported(aHistory({ turns: [aTurn({ tool_calls: [call] })] }), policyWith({ Custom: 'full' }))
    expect(document.sessions[0]?.turns[0]?.tool_calls[0]?.arguments).toEqual({
      command: ['mysql', '--password', '[REDACTED:password]', '-h', 'db'],
    })
    expect(document.redactions).toEqual({ password: 1 })
  })

  it('counts each rule and names no value', () => {
    const { redactions } = exported(aHistory({ turns: [aTurn({ prompt: `${SECRET} and ${SECRET}` })] }))
    expect(Object.values(redactions)).toEqual([2])
    expect(JSON.stringify(redactions)).not.toContain(SECRET)
  })

  it.each([
    ['full', { command: 'echo $HOME' }, '/root $HOME'],
    ['redacted', { command: 'echo [ENV:HOME]' }, '/root [ENV:HOME]'],
    ['metadata', { command: '[string]' }, '[string]'],
    ['none', undefined, undefined],
  ] as const)('keeps of a call what the tier %s keeps', (tier, asked, result) => {
    const call = aCall({ arguments: { command: 'echo $HOME' }, result: '/root $HOME' })
    const [kept] = exported(aHistory({ turns: [aTurn({ tool_calls: [call] })] }), policyWith({ Bash: tier })).sessions
    expect(kept?.turns[0]?.tool_calls[0]?.arguments).toEqual(asked)
    expect(kept?.turns[0]?.tool_calls[0]?.result).toBe(result)
  })

  it('hides a sub-agent’s prompt and reply with the arguments and the result of the call that started it', () => {
    const remarks = [{ text: 'the hidden thought', after_calls: 0 }]
    const sub = aTurn({ agent: 'helper', prompt: 'the hidden errand', remarks, reply: 'the hidden answer' })
    const call = aCall({
      name: 'Task',
      arguments: { prompt: sub.prompt },
      result: 'the hidden answer',
      sub_agent: [sub],
    })
    const notice = aTurn({ number: 2, by: 'tool', prompt: '<task-notification>the hidden answer</task-notification>' })
    const history = aHistory({ turns: [aTurn({ tool_calls: [call] }), notice], sub_agents: [sub] })
    for (const tier of ['metadata', 'none'] as const)
      expect(JSON.stringify(exported(history, policyWith({ Task: tier })))).not.toContain('hidden')
    expect(JSON.stringify(exported(history))).toContain('the hidden errand')
  })

  it('leaves the session it was given as it was', () => {
    const history = historyWith(everywhere(SECRET))
    const before = structuredClone(history)
    exported(history)
    expect(history).toEqual(before)
  })
})

it('what was said between calls is exported where it was said', () => {
  const remarks = [
    { text: 'First I look around.', after_calls: 0 },
    { text: 'Now I know.', after_calls: 2 },
  ]
  const calls = [aCall({ name: 'Glob' }), aCall({ name: 'Grep' }), aCall({ name: 'Read' })]
  const document = exported(aHistory({ turns: [aTurn({ remarks, tool_calls: calls, reply: 'Done.' })] }))
  const order = ['First I look around.', 'Glob', 'Grep', 'Now I know.', 'Read', 'Done.']
  for (const text of [markdownOf(document), pageOf(document).split('<main>')[1] ?? '']) {
    const places = order.map((words) => text.indexOf(words))
    expect(places).toEqual([...places].sort((a, b) => a - b))
    expect(places).not.toContain(-1)
  }
})

it('what came before the first prompt is exported too', () => {
  const document = exported(aHistory({ before: aTurn({ number: 0, prompt: '', reply: 'Welcome' }) }))
  expect(markdownOf(document)).toContain('Before the first turn')
  expect(pageOf(document)).toContain('Welcome')
})
