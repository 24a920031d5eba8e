import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Parts } from '../../src/lifecycle/parts.js'
import { keptText } from '../../src/lifecycle/talk/kept-text.js'
import { Random } from '../privacy/held-out/random.js'

it('a reply and a screen are given to scripts without secrets, coloured ones too, and otherwise as they are', async () => {
  const root = mkdtempSync(join(tmpdir(), 'skein-kept-'))
  try {
    const home = { directory: join(root, 'profiles', 'default') } as Parts['home']
    const token = `ghp_${new Random(7).word(36)}`
    const red = `gh\x1b[31m${token.slice(2, 9)}\x1b[0m${token.slice(9)}`
    const kept = await keptText({ home }, `Here it is:\n\t${token}\n${red}\nDone.`)
    expect(kept).toBe('Here it is:\n\t[REDACTED:github-token]\n[REDACTED:github-token]\nDone.')
    const plain = 'Two files changed, \x1b[32m12 tests passed\x1b[0m.\n'
    expect(await keptText({ home }, plain)).toBe(plain)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
})
