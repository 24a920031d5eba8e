import { expect, it } from 'vitest'
import { crashesOnNotices } from '../../src/terminal/event-hooks.js'

it.each([
  ['3.2', true],
  ['3.2a', true],
  ['3.6b', true],
  ['3.7', false],
  ['3.10', false],
  ['next-3.7', false],
  ['4.0', false],
  ['master', true],
  ['', true],
])('notices are held back for tmux %s: %s', (version, expected) => {
  expect(crashesOnNotices(version)).toBe(expected)
})
