import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { instantOf } from '../../../src/model/index.js'
import { foldSession } from '../../../src/tools/index.js'
import {
  type Conversation,
  conversationOf,
  type SpokenPart,
  type SpokenTurn,
} from '../../../src/tools/write/conversation.js'
import { scratchDirectory, toolNamed } from '../log-file.js'
import { ANY_SESSION, TOOLS, written } from './written-log.js'

const FIXTURES = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'fixtures')

const turn = (number: number, prompt: string, parts: SpokenPart[], more: Partial<SpokenTurn> = {}): SpokenTurn => ({
  number,
  prompt,
  parts,
  outcome: 'completed',
  ...more,
})
const text = (words: string): SpokenPart => ({ kind: 'text', text: words })
const call = (name: string, input: Record<string, unknown>, result?: string, is_error = false): SpokenPart => ({
  kind: 'call',
  id: `id-${name}`,
  name,
  input,
  ...(result === undefined ? {} : { result: { text: result, is_error, is_shortened: false } }),
})
const conversation = (tool: string, turns: SpokenTurn[], more: Partial<Conversation> = {}): Conversation => ({
  tool,
  session: ANY_SESSION,
  turns,
  left_out: [],
  ...more,
})

/** Everything that is said, in its order, as one text. */
const allWords = ({ turns }: Pick<Conversation, 'turns'>): string =>
  turns
    .flatMap(({ prompt, parts }) => [
      prompt,
      ...parts.map((part) => (part.kind === 'text' ? part.text : JSON.stringify(part.input) + part.result?.text)),
    ])
    .join('\n')

/** In this order, each behind the one before. */
function expectInOrder(all: string, pieces: readonly string[]): void {
  let from = 0
  for (const piece of pieces) {
    const at = all.indexOf(piece, from)
    expect(
      at,
      `${JSON.stringify(piece.slice(0, 100))} in ${JSON.stringify(all.slice(from, from + 2000))}`,
    ).toBeGreaterThanOrEqual(0)
    from = at + piece.length
  }
}

describe.each(TOOLS)('a conversation written for %s', (tool) => {
  it('is read back as it was written: prompts, replies, calls and results in their order', () => {
    const source = conversation('other', [
      turn(1, 'list the files', [text('I look.'), call('Bash', { command: 'ls -1' }, 'a.txt\nb.txt'), text('Two.')]),
      turn(2, 'read one', [
        call('Read', { file_path: 'a.txt' }, 'hello'),
        call('Bash', { command: 'false' }, 'no', true),
      ]),
      turn(3, 'go on', [text('Done.')]),
    ])
    const { read, written: made } = written(source, tool, scratchDirectory())
    expect(read.turns.map(({ prompt }) => prompt)).toEqual(['list the files', 'read one', 'go on'])
    const pieces = ['list the files', 'I look.', 'ls -1', 'a.txt', 'b.txt', 'Two.', 'read one', 'a.txt', 'hello']
    expectInOrder(allWords(read), [...pieces, 'false', 'no', 'go on', 'Done.'])
    expect(made.left_out).toEqual([{ what: 'tool calls, written as text', count: tool === 'gemini' ? 3 : 1 }])
  })

  it('keeps the calls of its own as they are, but for Gemini', () => {
    const source = conversation(tool, [
      turn(1, 'read', [call('Anything', { a: [1, { b: 'c' }] }, 'yes'), text('Read.')]),
    ])
    const [first] = written(source, tool, scratchDirectory()).read.turns
    if (tool === 'gemini') expect(first?.parts.map(({ kind }) => kind)).toEqual(['text'])
    else
      expect(first?.parts[0]).toMatchObject({
        name: 'Anything',
        input: { a: [1, { b: 'c' }] },
        result: { text: 'yes' },
      })
  })

  it('says how a turn ended that has no reply', () => {
    const source = conversation('other', [
      turn(1, 'one', [text('I begin.')], { outcome: 'aborted' }),
      turn(2, 'two', [call('Bash', { command: 'sleep 9' })], { outcome: 'open' }),
      turn(3, 'three', [], { outcome: 'failed', error: 'overloaded' }),
      turn(4, 'four', []),
    ])
    const { read } = written(source, tool, scratchDirectory())
    expect(read.turns).toHaveLength(4)
    const pieces = ['I begin.', '(The user interrupted this turn.)', 'sleep 9', 'It was interrupted', 'without a reply']
    expectInOrder(allWords(read), [...pieces, '(This turn failed: overloaded.)', 'four', '(No reply is recorded.)'])
  })

  it.runIf(tool === 'pi')('ends the turn as it ended', () => {
    const source = conversation('pi', [
      turn(1, 'one', [text('I begin.')], { outcome: 'aborted' }),
      turn(2, 'two', [call('bash', { command: 'sleep 9' }, 'killed', true)], { outcome: 'aborted' }),
      turn(3, 'three', [], { outcome: 'failed', error: 'overloaded' }),
      turn(4, 'four', [text('Done.')]),
    ])
    const { read } = written(source, tool, scratchDirectory())
    expect(read.turns.map(({ outcome, error }) => [outcome, error])).toEqual([
      ['aborted', undefined],
      ['aborted', undefined],
      ['failed', 'overloaded'],
      ['completed', undefined],
    ])
    const again = written(conversation('pi', read.turns), tool, scratchDirectory())
    expect(allWords(again.read)).toBe(allWords(read)) // what says so is not said twice
  })

  it('carries prompts that a program takes for commands or for notes of its own', () => {
    const prompts = [
      '/foo bar',
      ' ?help',
      '<session_context>x',
      '<hook_context>y</hook_context>z',
      '<environment_context>',
      '# AGENTS.md instructions for x',
      '[Request interrupted by user]',
      '<command-name>/x</command-name>',
      '<local-command-stdout>out</local-command-stdout>',
      '<task-notification>',
      '"quoted"',
      '"',
      ' ',
      'same',
      'same',
    ]
    const source = conversation(
      'other',
      prompts.map((prompt, at) => turn(at + 1, prompt, [text(`reply ${at}`)])),
    )
    const { read } = written(source, tool, scratchDirectory())
    expect(read.turns).toHaveLength(prompts.length)
    for (const [at, prompt] of prompts.entries())
      expect(read.turns[at]?.prompt).toContain(prompt.trim() === '' ? '(no text)' : prompt)
  })

  it('cuts what is longer than the context of its models, the oldest first, and says so', () => {
    const long = 'x'.repeat(7_000)
    const turns = Array.from({ length: 300 }, (_, at) =>
      turn(at + 1, `prompt ${at + 1}`, [call('Bash', { command: `cat ${at}` }, long), text(`reply ${at + 1} ${long}`)]),
    )
    const { read, written: made } = written(conversation('other', turns), tool, scratchDirectory())
    const size = allWords(read).length
    expect(size).toBeLessThan(tool === 'gemini' ? 2_300_000 : 650_000)
    expect(read.turns.at(-1)?.prompt).toBe('prompt 300')
    expect(allWords(read)).toContain(`skein turns ${ANY_SESSION}`)
    expect(made.left_out.map(({ what }) => what)).toContain('oldest turns, left out to fit the context')
  })

  it('has rising times and private files, and a title', () => {
    const home = scratchDirectory()
    const at = instantOf(Date.parse('2026-11-15T08:00:00.000Z'))
    const turns = [turn(1, 'one', [text('a')], { at }), turn(2, 'two', [text('b')], { at })]
    const source = conversation('other', turns, { title: 'A title', started_at: at })
    const { log, read } = written(source, tool, home)
    expect(read.turns[0]?.at && read.turns[1]?.at && read.turns[0].at < read.turns[1].at).toBe(true)
    if (tool === 'opencode') return
    expect(statSync(log.path).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(log.path)).mode & 0o777).toBe(0o700)
    expect(readFileSync(log.path, 'utf8')).not.toContain('"usage":{"input_tokens"')
    if (tool !== 'codex') expect(toolNamed(tool).identify(log).title).toBe('A title')
  })

  it('is not written over a log that is there', () => {
    if (tool === 'opencode') return
    const home = scratchDirectory()
    const source = conversation('other', [turn(1, 'one', [text('a')])])
    const { log } = written(source, tool, home)
    const before = readFileSync(log.path, 'utf8')
    const other = conversation('other', [turn(1, 'other', [text('b')])])
    expect(() => written(other, tool, home)).toThrow(/There is a log at/)
    expect(readFileSync(log.path, 'utf8')).toBe(before)
    expect(readdirSync(dirname(log.path)).filter((name) => name.includes('.tmp-'))).toEqual([])
  })

  it('reads back whatever was said (property)', () => {
    const words = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.constantFrom(
        '',
        ' ',
        '\0',
        '\ud800',
        'a\udc00b',
        '\u2028',
        '\r\n',
        '>',
        '"',
        '{"output":1}',
        'x'.repeat(20_000),
      ),
      fc.constantFrom('Process exited with code 3\nOutput:\n', 'Exit code: 1', 'aborted', 'No response requested.'),
      fc.constantFrom('/x', '?', '<environment_context>', '[Request interrupted by user]', '… (3 more)', '\ufeff'),
    )
    const json = fc.jsonValue({ maxDepth: 3 })
    const part: fc.Arbitrary<SpokenPart> = fc.oneof(
      words.map(text),
      fc
        .record({
          kind: fc.constant('call' as const),
          id: fc.string({ maxLength: 8 }),
          name: fc.constantFrom('Bash', 'exec_command', 'bash', 'run_shell_command', 'Read', 'apply_patch', 'odd name'),
          input: fc.oneof(
            fc.record({ command: words }),
            fc.record({ cmd: words }),
            fc.dictionary(fc.string({ maxLength: 6 }), json, { maxKeys: 3 }),
          ),
          result: fc.option(fc.record({ text: words, is_error: fc.boolean(), is_shortened: fc.constant(false) }), {
            nil: undefined,
          }),
        })
        .map(({ result, ...rest }) => (result ? { ...rest, result } : rest)),
    )
    const anyTurn = fc.record({
      prompt: words,
      parts: fc.array(part, { maxLength: 5 }),
      outcome: fc.constantFrom('completed' as const, 'aborted' as const, 'failed' as const, 'open' as const),
    })
    const home = mkdtempSync(join(tmpdir(), 'skein-written-'))
    try {
      let number = 0
      fc.assert(
        fc.property(
          fc.array(anyTurn, { minLength: 1, maxLength: 5 }),
          fc.constantFrom(tool, 'other'),
          (turns, from) => {
            number += 1
            const place = join(home, String(number))
            mkdirSync(place)
            const source = conversation(
              from,
              turns.map((one, at) => ({ ...one, number: at + 1 })),
            )
            const { read } = written(source, tool, place) // refused where it reads otherwise
            expect(read.turns).toHaveLength(turns.length)
            for (const [at, one] of turns.entries()) {
              const prompt = one.prompt.toWellFormed().replaceAll('\0', '\ufffd')
              if (prompt.trim() !== '') expect(read.turns[at]?.prompt).toContain(prompt)
            }
            rmSync(place, { recursive: true })
          },
        ),
        { numRuns: 60 },
      )
    } finally {
      rmSync(home, { recursive: true, force: true })
    }
  })
})

describe('every recorded log', () => {
  const recorded = TOOLS.flatMap((source) =>
    readdirSync(join(FIXTURES, source), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.expect.json'))
      .map((name) => ({ source, path: join(FIXTURES, source, name) })),
  )
  it.each(TOOLS)('is carried over to %s with all that was said', (target) => {
    let carried = 0
    for (const { source, path } of recorded) {
      const beside = path.replace(/\.expect\.json$/, '')
      const log = [`${beside}.jsonl`, `${beside}.json`].map((one) => toolNamed(source).logAt(one)).find(Boolean)
      if (!log) continue
      const logged = foldSession([toolNamed(source).read(log)])
      const said = conversationOf(logged, { tool: source, session: ANY_SESSION })
      if (said.turns.length === 0) continue
      const { read } = written(said, target, scratchDirectory())
      expect(read.turns.length, path).toBe(said.turns.length)
      const pieces = said.turns.flatMap(({ prompt, parts }) => [
        prompt,
        ...parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])),
      ])
      expectInOrder(allWords(read), pieces)
      carried += 1
    }
    expect(carried).toBeGreaterThan(40)
  })
})

it('a cut turn is not carried, and what follows it neither', () => {
  const turns = [1, 2, 3].map((number) => turn(number, `p${number}`, [text(`r${number}`)]))
  const directory = scratchDirectory()
  const { log } = written(conversation('other', turns), 'pi', directory)
  const logged = foldSession([toolNamed('pi').read(log)])
  const said = conversationOf(logged, { tool: 'pi', session: ANY_SESSION, through: 2 })
  expect(said.turns.map(({ prompt }) => prompt)).toEqual(['p1', 'p2'])
  writeFileSync(join(directory, 'x'), '')
})
