import { expect, it } from 'vitest'
import { patternRisk } from '../../src/model/index.js'

const NONE = {
  repetitions: 0,
  repeatsGroup: false,
  isNested: false,
  repeatsAlternatives: false,
  hasBackReference: false,
}

it.each([
  ['abc', {}],
  ['a{2}b{0,9}c?', {}],
  ['a*b+c{2,}d{1,99}', { repetitions: 4 }],
  ['(ab)+', { repetitions: 1, repeatsGroup: true }],
  ['(a+)+', { repetitions: 2, repeatsGroup: true, isNested: true }],
  ['((a+)b)*', { repetitions: 2, repeatsGroup: true, isNested: true }],
  ['(?:a|b)*', { repetitions: 1, repeatsGroup: true, repeatsAlternatives: true }],
  ['(a+){3}', { repetitions: 1 }],
  ['[(a+)+]', {}],
  ['\\(a\\)+', { repetitions: 1 }],
  ['[)(]*x', { repetitions: 1 }],
  ['(a)\\1', { hasBackReference: true }],
  ['(?<n>a)\\k<n>', { hasBackReference: true }],
  ['\\\\1', {}],
])('%s', (source, risk) => {
  expect(patternRisk(source)).toEqual({ ...NONE, ...risk })
})
