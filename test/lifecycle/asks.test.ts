import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { asksOf, dialogPrint } from '../../src/lifecycle/talk/asks.js'
import { openRequests, type PendingRequest, pendingOf } from '../../src/lifecycle/talk/pending-request.js'
import { isEndOf, isPrinted, printOf } from '../../src/lifecycle/talk/text-print.js'
import { type AgentStatus, type Ask, instantOf, parseAgentId } from '../../src/model/index.js'
import { type Dialog, WRAPPED } from '../../src/tools/index.js'

const AGENT = parseAgentId('3f0e5a52-8f6b-4c44-9f0e-0f8f3f8f1a11')
const at = (second: number) => instantOf(Date.UTC(2026, 10, 16) + second * 1_000)
const waiting: AgentStatus = {
  status: 'waiting',
  waiting_for: 'permission',
  since: at(10),
  source: 'hook',
  token: 'old',
}

const dialogFor = (command: string): Dialog => ({
  kind: 'permission',
  question: 'Do you want to proceed?',
  subject: `Bash command\n${command}\nDo you want to proceed?`,
  thing: command,
  options: [{ label: 'Yes', meaning: 'allow', isSelected: true }],
  axis: 'vertical',
})
const request = (command: string, second: number, more: object = {}): PendingRequest =>
  pendingOf(
    { id: `id of ${command}`, tool: 'Bash', kind: 'permission', what: command, exactly: command, ...more },
    at(second),
  )
const asked = (requests: PendingRequest[], dialog?: Dialog) =>
  asksOf({ agent: AGENT, run: 'run-1', now: at(20), status: waiting, requests, dialog })

describe('what an agent asks', () => {
  it('a request has the same token before and after its dialog is drawn', () => {
    const [drawn] = asked([request('ls', 10)], dialogFor('ls')).asks
    expect(asked([request('ls', 10)]).asks[0]?.token).toBe(drawn?.token)
    expect(drawn).toMatchObject({ what: 'ls', tool: 'Bash', options: [{ label: 'Yes', meaning: 'allow' }] })
  })

  it('a dialog keeps its token when the program tells late what it is for', () => {
    const [ask] = asked([], dialogFor('ls')).asks
    const before = { dialog: dialogPrint(dialogFor('ls')), ask: ask as Ask }
    const later = (told: PendingRequest, dialog = dialogFor('ls')) =>
      asksOf({ agent: AGENT, run: 'run-1', now: at(20), status: waiting, requests: [told], dialog, before })
    const late = later(request('ls', 12))
    expect(late.asks).toMatchObject([{ token: ask?.token, what: 'ls', tool: 'Bash' }])
    expect(asked(late.requests, dialogFor('ls')).asks[0]?.token).toBe(ask?.token)
    expect(later(request('ls', 19)).asks[0]?.token).not.toBe(ask?.token) // asked again
    expect(later(request('ls; rm -rf ~', 12)).asks[0]?.tool).toBeUndefined()
    expect(later(request('rm', 12), dialogFor('rm')).asks[0]?.token).not.toBe(ask?.token)
  })

  it.each([
    ['ls', 'ls; rm -rf ~'],
    ['ls', 'rm -rf ~\nls'],
    ['rm -rf /tmp/x', 'rm -rf / tmp/x'],
    ['echo a\nrm b', 'echo a rm b'],
    ["rm 'a b'", "rm 'a  b'"],
  ])('%j is not what a dialog for %j asks', (told, shown) => {
    const { asks, shown: behind } = asked([request(told, 10)], dialogFor(shown))
    expect(behind).toBeUndefined()
    expect(asks).toMatchObject([{ what: expect.stringContaining(shown) }, { what: told, is_queued: true }])
  })

  it('the dialog in front comes first, whichever was asked first', () => {
    const requests = [request('one', 10), request('two', 11)]
    expect(asked(requests, dialogFor('two')).asks.map(({ what, is_queued }) => [what, is_queued])).toEqual([
      ['two', undefined],
      ['one', true],
    ])
  })

  it('one that was seen on the screen and has gone from it is no longer asked; one that was never seen is', () => {
    const first = asked([request('one', 10), request('two', 11)], dialogFor('one'))
    const then = asked(first.requests, dialogFor('two'))
    expect(then.asks.map(({ what }) => what)).toEqual(['two'])
    expect(asked([request('one', 10), request('two', 11)], dialogFor('two')).requests).toHaveLength(2)
  })

  const LONG = Array.from({ length: 60 }, (_, n) => `echo line ${n}`).join('\n')
  const cut = (thing: string, more: Partial<Dialog> = {}): Dialog => ({ ...dialogFor(thing), isCut: true, ...more })

  it('of two that read the same as far as the screen shows them, neither is said to be asked, whichever was seen', () => {
    const [one, other] = [request(LONG, 10), request(`${LONG}\nrm -rf ~`, 11)]
    const shown = cut(LONG.slice(0, 600))
    const first = asked([one], shown)
    expect(first.shown?.id).toBe(one.id)
    expect(asked([...first.requests, other], shown).shown).toBeUndefined()
    expect(asked([...first.requests, other], shown).asks.map(({ token }) => token)).not.toContain(first.asks[0]?.token)
  })

  it('a dialog whose beginning is not on the screen may be for more than what it shows', () => {
    expect(asked([request('ls', 10)], cut('ls')).shown?.what).toBe('ls') // it ends in dots itself
    expect(asked([request('ls', 10)], cut('ls', { isTopless: true })).shown).toBeUndefined()
    const [head, tail] = [LONG.slice(0, 600), LONG.slice(-600)]
    expect(asked([request(LONG, 10)], cut(head, { isTopless: true })).shown).toBeUndefined()
    expect(asked([request(LONG, 10)], cut(tail, { isTopless: true })).shown?.what).toBe(LONG)
  })

  it('what cannot be seen is known by the sign that stands for it', () => {
    const hidden = request('touch z\u200bw\u001b', 10)
    expect(asked([hidden], dialogFor('touch z\ufffdw\ufffd')).asks).toMatchObject([{ what: 'touch z\u200bw\u001b' }])
    expect(asked([hidden], dialogFor('touch zw')).asks).toMatchObject([{ what: 'touch z\u200bw\u001b' }])
    expect(asked([request('touch zw', 10)], dialogFor('touch z\ufffdw')).shown).toBeUndefined()
    expect(asked([hidden, request('touch zw', 11)], dialogFor('touch zw')).shown).toBeUndefined()
  })

  it('requests of a program with ids are each answerable', () => {
    const requests = [request('one', 10, { isTracked: true }), request('two', 11, { isTracked: true })]
    expect(asked(requests, dialogFor('two')).asks.map(({ what, is_queued }) => [what, is_queued])).toEqual([
      ['one', undefined],
      ['two', undefined],
    ])
  })

  it('two dialogs have one token only if they show the same', () => {
    const text = fc.stringMatching(/^[a-z ]{1,12}$/).map((words) => words.replace(/\s+/g, ' ').trim())
    fc.assert(
      fc.property(text, text, (one, other) => {
        const tokens = [one, other].map((command) => asked([], dialogFor(command)).asks[0]?.token)
        expect(tokens[0] === tokens[1]).toBe(one === other)
      }),
      { seed: 7, numRuns: 300 },
    )
  })
})

describe('what stays open', () => {
  it('an answer settles one of two that are the same, and the end of a turn settles all', () => {
    const twice = [request('ls', 10), request('ls', 11)]
    expect(openRequests(twice, { settled: 'id of ls' })).toEqual([twice[1]])
    expect(openRequests(twice, { evidence: { source: 'hook', status: 'idle' } })).toEqual([])
    expect(openRequests(twice, { prompt: 'next' })).toEqual([])
  })

  it('a prompt that is queued does not settle what a program with ids asks', () => {
    const tracked = [request('ls', 10, { isTracked: true })]
    expect(openRequests(tracked, { prompt: 'next' })).toEqual(tracked)
  })

  it('a message that is taken twice is one request', () => {
    const first = openRequests([], {}, request('ls', 10))
    expect(openRequests(first, {}, request('ls', 10))).toHaveLength(1)
  })
})

describe('the print of a text', () => {
  const command = fc.array(fc.constantFrom('rm', '-rf', '/tmp', '/', 'x'.repeat(30), "'a b'"), {
    minLength: 1,
    maxLength: 12,
  })
  const wrapped = (text: string, width: number): string => {
    let [shown, length] = ['', 0]
    for (const word of text.split(' ')) {
      if (length > 0 && length + 1 + word.length > width) [shown, length] = [`${shown}${WRAPPED}`, 0]
      else if (length > 0) [shown, length] = [`${shown} `, length + 1]
      for (const char of word) {
        if (length === width) [shown, length] = [`${shown}${WRAPPED}`, 0]
        ;[shown, length] = [shown + char, length + 1]
      }
    }
    return shown
  }

  it('is found however a screen wraps it', () => {
    fc.assert(
      fc.property(command, fc.integer({ min: 10, max: 60 }), (words, width) => {
        const text = words.join(' ')
        expect(isPrinted(wrapped(text, width), printOf(text))).toBe(true)
      }),
      { seed: 11, numRuns: 300 },
    )
  })

  it('of a long text that is cut is found by either end, and by nothing else', () => {
    const text = Array.from({ length: 200 }, (_, n) => `line ${n}`).join('\n')
    expect(isEndOf(text.slice(-800), printOf(text), { isCut: true })).toBe(true)
    expect(isEndOf(text.slice(0, 800), printOf(text), { isCut: true })).toBe(true)
    expect(isEndOf(text.slice(300, 1_200), printOf(text), { isCut: true })).toBe(false)
    expect(isPrinted(text.slice(-800), printOf(text))).toBe(false)
  })
})
