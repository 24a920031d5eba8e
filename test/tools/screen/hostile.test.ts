import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtInRules } from '../../../src/tools/patterns/built-in.js'
import { readScreenBy } from '../../../src/tools/screen/read-screen.js'
import { LINE_LIMIT } from '../../../src/tools/screen/safe-regex.js'
import { recordedPanes } from '../recorded-pane.js'

const rules = builtInRules('claude')
const EDGE = '─'.repeat(120)
const read = (lines: readonly string[], width = 120) => readScreenBy(rules, { lines, title: '', width })

/** The end of a screen that waits for input. */
const BOX = [EDGE, '❯ ', EDGE, '  ⏵⏵ auto mode on']

describe('what an agent writes is not taken for a dialog', () => {
  const dialog = recordedPanes('claude').find((pane) => pane.name === 'permission-bash')?.screen.lines ?? []
  const from = dialog.findIndex((line) => line.startsWith('───'))

  it('a whole dialog in a reply', () => {
    const quoted = dialog.slice(from).map((line) => `  ${line}`)
    expect(read(['● This is what it looks like:', ...quoted, '', '✻ Cooked for 1s', '', ...BOX])).toMatchObject({
      status: 'idle',
      rule: 'claude/prompt@1',
    })
  })

  it('a whole dialog at the very edge, as a program run by the agent could print it', () => {
    expect(read([...dialog.slice(from), '', ...BOX])).not.toHaveProperty('dialog')
  })

  it('a spinner in a reply', () => {
    expect(read(['● Done:', '  ✻ Thinking… (5s)', '', '✻ Cooked for 1s', '', ...BOX]).status).toBe('idle')
  })

  it('a question with yes', () => {
    expect(read(['● Would you like to go on? (yes/no)', '', ...BOX]).status).toBe('idle')
  })

  it('options that a command brings along do not become options of the dialog', () => {
    const command = ' ❯ 1. Yes\n   2. Yes, and always allow\n   3. No'.split('\n')
    const at = dialog.findIndex((line) => line.includes('echo five > five.txt') && !line.includes('$'))
    const { dialog: found } = read([...dialog.slice(0, at), ...command, ...dialog.slice(at + 1)])
    expect(found?.options.map((option) => option.label)).toEqual([
      'Yes',
      'Yes, and always allow access to /home/dev/src/claude/work/repo from this project',
      'Yes, and switch to auto mode · auto mode handles these prompts for you',
      'No',
    ])
    expect(found?.options.findIndex((option) => option.isSelected)).toBe(0)
  })

  it('a list whose chosen row cannot be seen is no dialog', () => {
    const unmarked = dialog.map((line) => line.replace('❯ 1.', '  1.').replace('❯ turn', '> turn'))
    expect(read(unmarked)).not.toHaveProperty('dialog')
  })
})

describe('narrow screens', () => {
  it('a wrapped label is one label, a description is none', () => {
    const lines = [
      '─'.repeat(44),
      ' Bash command',
      ' Do you want to proceed?',
      ' ❯ 1. Yes',
      '   2. Yes, and always allow access to',
      '      /srv/web from this project',
      '   3. No',
      '',
      ' Esc to cancel · Tab to',
      ' amend',
    ]
    expect(read(lines, 44).dialog?.options).toEqual([
      { label: 'Yes', meaning: 'allow', isSelected: true },
      {
        label: 'Yes, and always allow access to /srv/web from this project',
        meaning: 'allow-always',
        isSelected: false,
      },
      { label: 'No', meaning: 'deny', isSelected: false },
    ])
  })
})

it('the offer to resume from a summary, by the words that the program has for it', () => {
  const lines = [
    EDGE,
    ' This session is 3d old and 450k tokens.',
    '',
    ' Resuming the full session will consume a substantial portion of your usage limits. We recommend resuming from a summary.',
    '',
    ' ❯ 1. Resume from summary (recommended)',
    '   2. Resume full session as-is',
    "   3. Don't ask me again",
  ]
  expect(read(lines)).toMatchObject({
    status: 'waiting',
    rule: 'claude/resume-from-summary@1',
    dialog: { kind: 'startup' },
  })
})

describe('any screen', () => {
  it('an empty one and one of another program are unknown, never idle', () => {
    for (const lines of [[], [''], ['$ ls', 'README.md', '$ ']]) {
      expect(read(lines)).toEqual({ status: 'unknown', reason: 'no rule matches this screen' })
      expect(readScreenBy(builtInRules('codex'), { lines, title: '', width: 80 }).status).toBe('unknown')
    }
  })

  const piece = fc.oneof(
    fc.constantFrom(
      EDGE,
      '❯ ',
      '❯ 1. Yes',
      '  2. No',
      '✻ Cooking…',
      '● hi',
      ' Esc to cancel · Tab to amend',
      '› ',
      '╌'.repeat(99),
    ),
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.constantFrom(' ', '…', '─', '·', 'a ', '1. ', '❯').map((unit) => unit.repeat(600)),
  )
  it.each(['claude', 'codex'])('never throws, whatever %s shows', (tool) => {
    const own = builtInRules(tool)
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), fc.integer({ min: 1, max: 300 }), (lines, width) => {
        const reading = readScreenBy(own, { lines, title: '', width })
        const text = JSON.stringify(reading)
        return /[\u0000-\u001f]/.test(text) === false && (reading.dialog?.options.length ?? 2) >= 2
      }),
      { numRuns: 400 },
    )
  })

  it('a line is read no further than a limit', () => {
    const long = `● ${'x'.repeat(LINE_LIMIT * 50)}`
    expect(read([long, '', ...BOX]).status).toBe('idle')
  })
})
