import { describe, expect, it } from 'vitest'
import { claudeRunner } from '../../../src/tools/claude/claude-runner.js'
import { codexRunner } from '../../../src/tools/codex/codex-runner.js'

/** Undefined: refused. What was tried with claude 2.1.325 and codex 0.166.0. */
const TRIED: [text: string, claude: string | undefined, codex: string | undefined][] = [
  ['fix the login', 'fix the login', 'fix the login'],
  ['/compact', undefined, ' /compact'],
  [' /compact', undefined, ' /compact'],
  ['\n/quit', undefined, ' /quit'],
  ['!rm -rf x', ' !rm -rf x', undefined],
  ['  !rm -rf x', ' !rm -rf x', undefined],
  ['?what', '?what', '?what'],
  ['#note', '#note', '#note'],
  ['first\n/second', 'first\n/second', 'first\n/second'],
  ['see @READ', 'see @READ ', 'see @READ '],
  ['use $skill', 'use $skill', 'use $skill '],
  ['@READ is old', '@READ is old', '@READ is old'],
  ['ends with \\', 'ends with \\ ', 'ends with \\'],
  ['a\tb', 'a    b', 'a    b'],
  ['a\r\nb', 'a\nb', 'a\nb'],
  [
    '$(id) `id` #{pane_id} ; "\' שלום 👩‍👩‍👧',
    '$(id) `id` #{pane_id} ; "\' שלום 👩‍👩‍👧',
    '$(id) `id` #{pane_id} ; "\' שלום 👩‍👩‍👧',
  ],
]

describe('what may be typed', () => {
  it.each(TRIED)('%j', (text, claude, codex) => {
    const typed = (check: ReturnType<typeof claudeRunner.checkText>) => (check.kind === 'ok' ? check.text : undefined)
    expect(typed(claudeRunner.checkText(text))).toBe(claude)
    expect(typed(codexRunner.checkText(text))).toBe(codex)
  })

  it.each(['', ' \n\t', 'a\u001b[A', 'a\u0003', '\u009b31m', 'a\u0000b', 'del\u007f'])('%j is refused', (text) => {
    expect(claudeRunner.checkText(text)).toMatchObject({ kind: 'refused' })
    expect(codexRunner.checkText(text)).toMatchObject({ kind: 'refused' })
  })

  it('a refusal says what would happen and what to do', () => {
    expect(codexRunner.checkText('!ls')).toEqual({
      kind: 'refused',
      because: 'Codex takes a text that starts with ! as a command: it would run it in a shell',
      next: 'Put a word before it, or attach and type it yourself',
    })
  })
})
