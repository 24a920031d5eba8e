import { expect, it } from 'vitest'
import { withoutBlankEnds } from '../../src/lifecycle/talk/output.js'

it('of a screen, what was drawn is output, and not the blank lines around it', () => {
  expect(withoutBlankEnds('\n   \n  first\n\n last  \n   \n\n\n')).toBe('  first\n\n last')
  expect(withoutBlankEnds('first')).toBe('first')
  expect(withoutBlankEnds('\n \n\n')).toBe('')
})
