import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PriceBook } from '../../src/ingest/index.js'
import { exportDocument, markdownOf, pageOf } from '../../src/interchange/index.js'
import { parseSessionId, type UsageCall } from '../../src/model/index.js'
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

describe('files that were changed', () => {
  const edits = [
    aCall({ name: 'Edit', arguments: { file_path: '/srv/web/a.ts', old_string: 'x', new_string: 'y' } }),
    aCall({ name: 'write', arguments: { filePath: '/srv/web/b.ts', content: 'z' } }),
    aCall({ name: 'NotebookEdit', arguments: { notebook_path: '/srv/web/c.ipynb', new_source: 'z' } }),
    aCall({
      name: 'apply_patch',
      arguments: { input: '*** Begin Patch\n*** Update File: d.ts\n*** Move to: e.ts\n+x\n*** End Patch' },
    }),
  ]
  const history = aHistory({ turns: [aTurn({ tool_calls: edits })] })
  const paths = ['/srv/web/a.ts', '/srv/web/b.ts', '/srv/web/c.ipynb', 'd.ts', 'e.ts']

  it.each(['full', 'redacted'] as const)('are named where the policy keeps the arguments: %s', (tier) => {
    const document = exported(
      history,
      policyWith({ '*': tier, Edit: tier, write: tier, NotebookEdit: tier, apply_patch: tier }),
    )
    expect(document.sessions[0]?.turns[0]?.tool_calls.flatMap((call) => call.paths ?? [])).toEqual(paths)
    const page = pageOf(document)
    for (const summary of ['/srv/web/a.ts', '/srv/web/b.ts', '/srv/web/c.ipynb', 'd.ts, e.ts'])
      expect(page).toMatch(new RegExp(`<summary><b>[^<]*</b>${summary.replaceAll('.', '\\.')}`))
    expect(markdownOf(document)).toContain('**apply\\_patch** d.ts, e.ts')
  })

  it('are named nowhere under the built-in policy, nor under one that is stricter', () => {
    for (const policy of [
      DEFAULT_PRIVACY,
      policyWith({ '*': 'none', Edit: 'none', write: 'none', NotebookEdit: 'none', apply_patch: 'none' }),
    ]) {
      const document = exported(history, policy)
      const [turn] = document.sessions[0]?.turns ?? []
      expect(turn?.tool_calls.map((call) => call.paths)).toEqual([undefined, undefined, undefined, undefined])
      for (const text of [JSON.stringify(document), markdownOf(document), pageOf(document)])
        for (const path of paths) expect(text).not.toContain(path)
    }
  })

  it('are not named by the types that an archive kept in their place', () => {
    const kept = aCall({ name: 'Edit', arguments: { file_path: '[string]' } })
    const document = exported(aHistory({ turns: [aTurn({ tool_calls: [kept] })] }), policyWith({ Edit: 'full' }))
    expect(document.sessions[0]?.turns[0]?.tool_calls[0]).not.toHaveProperty('paths')
  })
})

describe('cost', () => {
  const prices = new PriceBook({ known: { input: 1, output: 2 } })
  const usage = (message_id: string, model: string): UsageCall => ({
    message_id,
    model,
    session: parseSessionId('0f3c9a12'),
    ts: AT,
    input_tokens: 1_000_000,
    output_tokens: 0,
    cache_read_tokens: 0,
    cache_write_5m_tokens: 0,
    cache_write_1h_tokens: 0,
    web_search_requests: 0,
  })
  const sub = aTurn({ agent: 'helper', usage: [usage('m2', 'known')] })
  const turns = [
    aTurn({ usage: [usage('m1', 'known')], tool_calls: [aCall({ name: 'Task', sub_agent: [sub] })] }),
    aTurn({ number: 2, usage: [usage('m3', 'secretive')] }),
    aTurn({ number: 3, usage: [usage('m4', 'known')], copied: true }),
    aTurn({ number: 4 }),
  ]
  const document = exportDocument([{ history: aHistory({ turns }), policy: DEFAULT_PRIVACY }], { at: AT, prices })

  it('is that of each turn, and of all with sub-agents and without what was copied', () => {
    const [session] = document.sessions
    const dollar = { calls: 1, micro_usd: 1_000_000, unpriced_calls: 0, unpriced_models: [] }
    const unknown = { calls: 1, micro_usd: 0, unpriced_calls: 1, unpriced_models: ['secretive'] }
    expect(session?.turns.map((turn) => turn.cost)).toEqual([dollar, unknown, undefined, undefined])
    expect(session?.turns[0]?.tool_calls[0]?.sub_agent?.[0]?.cost).toEqual(dollar)
    const total = { calls: 3, micro_usd: 2_000_000, unpriced_calls: 1, unpriced_models: ['secretive'] }
    expect(session?.cost).toEqual(total)
    expect(document.cost).toEqual(total)
  })

  it('names the models without a known price, and never calls them free', () => {
    expect(pageOf(document)).toContain('<dt>Cost</dt><dd>$2.00 + unknown (no known price: secretive)</dd>')
    expect(markdownOf(document)).toContain('- Cost: \\$2.00 \\+ unknown \\(no known price: secretive\\)')
    for (const text of [pageOf(document), markdownOf(document).replaceAll('\\', '')]) {
      expect(text).toContain('cost $1.00')
      expect(text).toContain('cost unknown (no known price: secretive)')
      expect(text).not.toContain('$0.00')
    }
  })

  it('of several sessions is added up', () => {
    const source = { history: aHistory({ turns }), policy: DEFAULT_PRIVACY }
    const both = exportDocument([source, source], { at: AT, prices })
    expect(both.cost?.micro_usd).toBe(4_000_000)
    expect(pageOf(both)).toContain('Cost of all: $4.00 + unknown (no known price: secretive).')
    expect(markdownOf(both)).toContain('Cost of all: \\$4.00')
  })

  it('of a session without log and archive is what was counted when it was read; without any record it is absent', () => {
    const history = aHistory({ told_from: 'counts', from_log: false })
    const spent = { calls: 2, micro_usd: 30_000, unpriced_calls: 0 }
    const told = exportDocument([{ history, policy: DEFAULT_PRIVACY, spent }], { at: AT, prices })
    expect(told.sessions[0]?.cost).toEqual({ ...spent, unpriced_models: [] })
    const untold = exportDocument([{ history, policy: DEFAULT_PRIVACY }], { at: AT, prices })
    expect(untold).not.toHaveProperty('cost')
    expect(pageOf(untold)).not.toContain('<dt>Cost')
  })
})
