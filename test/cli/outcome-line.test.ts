import { expect, it } from 'vitest'
import { outcomeLine } from '../../src/cli/views/outcome-line.js'

it('a failed turn is called failed once', () => {
  for (const reason of ['the last turn failed: usage limit', 'the turn failed: usage limit', 'usage limit'])
    expect(outcomeLine('failed', reason)).toBe('No reply, the turn failed: usage limit')
  expect(outcomeLine('asks', 'Bash: make')).toBe('No reply yet, it waits for an answer: Bash: make')
})
