import { describe, expect, it } from 'vitest'
import { builtInRules } from '../../../src/tools/patterns/built-in.js'
import type { ScreenReading } from '../../../src/tools/run/tool-runner.js'
import { readScreenBy } from '../../../src/tools/screen/read-screen.js'
import { fixture, recordedPanes } from '../recorded-pane.js'

/** One line per option: `>` marks the chosen one, then what it means, then its label. */
function summary({ dialog, rule, ...reading }: ScreenReading): object {
  return {
    ...reading,
    ...(rule ? { rule: rule.replace(/^.*\/|@\d+$/g, '') } : {}),
    ...(dialog
      ? {
          dialog: {
            ...dialog,
            options: dialog.options.map((o) => `${o.isSelected ? '>' : ' '} ${o.meaning}: ${o.label}`),
          },
        }
      : {}),
  }
}

describe.each(['claude', 'codex', 'gemini', 'opencode', 'pi'])('the recorded panes of %s', (tool) => {
  const expected: Record<string, object> = JSON.parse(fixture(tool, 'panes', 'expected.json'))
  const panes = recordedPanes(tool)

  it('each has an expectation', () => {
    expect(panes.map((pane) => pane.name).sort()).toEqual(Object.keys(expected).sort())
  })

  it.each(panes)('$name', ({ name, screen }) => {
    expect(summary(readScreenBy(builtInRules(tool), screen))).toEqual(expected[name])
  })

  it.each(panes)('$name reads the same however many empty lines follow', ({ screen }) => {
    const rules = builtInRules(tool)
    const longer = { ...screen, lines: [...screen.lines, '', '   ', ''] }
    expect(readScreenBy(rules, longer)).toEqual(readScreenBy(rules, screen))
  })
})
