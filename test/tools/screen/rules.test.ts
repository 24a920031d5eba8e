import { describe, expect, it } from 'vitest'
import { parseScreenRules } from '../../../src/tools/screen/rules.js'
import { safeRegex } from '../../../src/tools/screen/safe-regex.js'

describe('patterns that could take for ever are refused', () => {
  it.each([
    '(a+)+$',
    '(a|aa)*',
    '(?:x*)*y',
    '(\\w+\\s?)+$',
    '(a)\\1',
    '(?<n>a)\\k<n>',
    '.*.*.*.*.*x',
    '(a){2,}',
    '(ab){1,99}',
  ])('%s', (source) => {
    expect(() => safeRegex(source)).toThrow(/for ever|open repetitions/)
  })

  it.each(['^[·✢] \\S.*…( \\(.*\\))?$', '\\)+', '[)(]*x', 'a{2}b{0,9}', '(yes|no)?', '(a|b){2}'])(
    '%s is taken',
    (source) => {
      expect(safeRegex(source)).toBeInstanceOf(RegExp)
    },
  )
})

describe('a file of rules', () => {
  const rule = { id: 'busy', region: 'bottom', match: 'working', status: 'running' }
  const file = { tool: 'vibe', version: 3, rules: [rule] }

  it.each([
    [{ ...file, rules: [{ ...rule, staus: 'idle' }] }, 'rules[0].staus in p.toml is not a known key'],
    [{ ...file, rules: [{ ...rule, status: 'busy' }] }, 'rules[0].status in p.toml is "busy"'],
    [{ ...file, rules: [{ ...rule, region: 'top' }] }, 'rules[0].region in p.toml is "top"'],
    [{ ...file, rules: [{ ...rule, match: '(a+)+' }] }, 'rules[0].match in p.toml cannot be used as a pattern'],
    [{ ...file, rules: [{ ...rule, match: ['ok', '('] }] }, 'rules[0].match[1] in p.toml cannot be used as a pattern'],
    [{ ...file, version: 0 }, 'version in p.toml is not a whole number above 0'],
    [{ tool: 'vibe', version: 1 }, 'rules in p.toml is missing'],
    [{ ...file, rules: {} }, 'rules in p.toml is not a list'],
    [[], 'The content in p.toml is not a table'],
  ])('that is wrong is refused with its place (%#)', (value, message) => {
    expect(() => parseScreenRules(value, 'p.toml')).toThrow(message)
  })

  it('is read whole', () => {
    const rules = parseScreenRules({ ...file, titles: [{ id: 't', match: '^x', status: 'idle' }] }, 'p.toml')
    expect(rules).toMatchObject({
      tool: 'vibe',
      version: 3,
      source: 'p.toml',
      rules: [{ id: 'busy', lines: 1, not: [] }],
    })
  })
})
