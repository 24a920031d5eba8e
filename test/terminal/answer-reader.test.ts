import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Answer, AnswerReader } from '../../src/terminal/answer-reader.js'

/** As tmux 3.3a sent it: the answer to the start, notifications between answers, a screen that shows frames, a refusal. */
const RECORDED = `%begin 1794760012 265 0
%end 1794760012 265 0
%session-changed $0 _skein
%begin 1794760012 270 1
%0
%1
%end 1794760012 270 1
%begin 1794760012 271 1
mark-1
%end 1794760012 271 1
%sessions-changed
%begin 1794760013 280 1
naïve 日本語 👩‍👩‍👧 \u001b[1mbold\u001b[0m
%end 1794760012 270 1
%end 1794760013 280 1
%begin 1794760013 281 1
mark-3
%exit

%end 1794760013 280 1
%begin 1794760013 281 1
mark-2
%end 1794760013 281 1
%begin 1794760013 282 1
can't find pane: %99
%error 1794760013 282 1
%unlinked-window-add @5
%begin 1794760013 283 1
mark-3
%end 1794760013 283 1
%begin 1794760013 290 1
%7
%end 1794760013 290 1
%begin 1794760013 291 1
no such thing
%error 1794760013 291 1
%begin 1794760013 292 1
mark-4
%end 1794760013 292 1
%begin 1794760014 300 1
parse error: unknown command: foo
%error 1794760014 300 1
%begin 1794760014 301 1
mark-5
%end 1794760014 301 1
%exit
`
const EXPECTED: Answer[] = [
  { lines: ['%0', '%1'] },
  {
    lines: [
      'naïve 日本語 👩‍👩‍👧 \u001b[1mbold\u001b[0m',
      '%end 1794760012 270 1',
      '%end 1794760013 280 1',
      '%begin 1794760013 281 1',
      'mark-3',
      '%exit',
      '',
    ],
  },
  { lines: [], refusal: "can't find pane: %99" },
  { lines: ['%7'], refusal: 'no such thing' },
  { lines: [], refusal: 'parse error: unknown command: foo' },
]
const reader = (): AnswerReader => {
  const made = new AnswerReader()
  for (const mark of ['mark-1', 'mark-2', 'mark-3', 'mark-4', 'mark-5']) made.expect(mark)
  return made
}

describe('the answers of a control client', () => {
  it('are the same wherever the stream is cut', () => {
    const bytes = Buffer.from(RECORDED)
    for (let at = 0; at <= bytes.length; at += 1) {
      const cut = reader()
      expect([...cut.feed(bytes.subarray(0, at)), ...cut.feed(bytes.subarray(at))]).toEqual(EXPECTED)
    }
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 })), (sizes) => {
        const cut = reader()
        const answers: Answer[] = []
        let at = 0
        for (const size of [...sizes, bytes.length]) {
          answers.push(...cut.feed(bytes.subarray(at, at + size)))
          at += size
        }
        expect(answers).toEqual(EXPECTED)
      }),
    )
  })

  it('contain any lines but the mark, whatever they look like', () => {
    const line = fc.oneof(
      fc.string(),
      fc.constantFrom('%end 5 6 1', '%error 5 6 1', '%begin 5 7 1', '%end 5 7 1', '%exit', '', 'mark', 'secret-2'),
    )
    fc.assert(
      fc.property(fc.array(fc.array(line.filter((text) => !text.includes('\n')))), (bodies) => {
        const made = new AnswerReader()
        let stream = ''
        for (const [at, body] of bodies.entries()) {
          made.expect(`unguessable-${at}`)
          stream += ['%begin 5 6 1', ...body, '%end 5 6 1', '%begin 5 7 1', `unguessable-${at}`, '%end 5 7 1', ''].join(
            '\n',
          )
        }
        expect(made.feed(Buffer.from(stream))).toEqual(bodies.map((lines) => ({ lines })))
      }),
    )
  })

  it('are not waited for when nothing was asked: what came unasked is forgotten', () => {
    const made = new AnswerReader()
    for (let n = 0; n < 1_000; n += 1)
      expect(made.feed(Buffer.from(`%sessions-changed\n%window-renamed @1 x${n}`))).toEqual([])
    made.expect('mark')
    expect(made.feed(Buffer.from('\n%begin 1 2 1\nyes\n%end 1 2 1\n%begin 1 3 1\nmark\n'))).toEqual([
      { lines: ['yes'] },
    ])
  })
})
