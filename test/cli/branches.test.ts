import { describe, expect, it } from 'vitest'
import { type Branch, drawBranches } from '../../src/cli/screen/branches.js'
import { PLAIN_PAINT } from '../../src/cli/screen/paint.js'

const leaf = (...parts: string[]): Branch => ({ parts, branches: [] })
const draw = (root: Branch, width: number): string[] =>
  drawBranches([root], { width, paint: PLAIN_PAINT, nowMs: 0 }).split('\n')

describe('a tree', () => {
  const root: Branch = {
    parts: ['root'],
    title: 'what it is about',
    branches: [{ parts: ['first', 'active'], branches: [leaf('below', 'done')] }, leaf('second', 'crash', '(3h ago)')],
  }

  it('draws what grew out of what with box lines', () => {
    expect(draw(root, 80)).toEqual([
      'root what it is about',
      '├─ first active',
      '│  └─ below done',
      '└─ second crash (3h ago)',
    ])
  })

  it('shortens titles and leaves out later parts on a narrow terminal', () => {
    expect(draw(root, 16)).toEqual(['root what it is…', '├─ first active', '│  └─ below done', '└─ second crash'])
  })
})
