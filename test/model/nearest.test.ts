import { describe, expect, it } from 'vitest'
import { nearest } from '../../src/model/index.js'

describe('the word that was likely meant', () => {
  const words = ['sessions', 'session', 'agents', 'group', 'events', 'index', 'profile', 'completion']
  it.each([
    ['sesions', 'sessions'],
    ['sesison', 'session'],
    ['agent', 'agents'],
    ['indxe', 'index'],
    ['comp', 'completion'],
  ])('%s is likely %s', (typed, meant) => {
    expect(nearest(typed, words)).toBe(meant)
  })

  it('is none when nothing is close', () => {
    expect(nearest('weather', words)).toBeUndefined()
    expect(nearest('', words)).toBeUndefined()
    expect(nearest('9', ['0', '1', '2'])).toBeUndefined()
    expect(nearest('N', ['y', 'n'])).toBe('n')
  })
})
