import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { profilesUnder } from '../cli/world.js'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'skein-programs-'))
  mkdirSync(join(root, 'patterns'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

async function runners() {
  await using home = await profilesUnder(root).open('default')
  return await home.programs.runners()
}

const own = (file: string, content: string): void => writeFileSync(join(root, 'patterns', file), content)
const screen = { lines: ['it is hard at work'], title: 'busy now', width: 80 }

it('a file of rules replaces ours for that tool, and says so', async () => {
  own(
    'codex.toml',
    `tool = "codex"\nversion = 7\n[[rules]]\nid = "mine"\nregion = "screen"\nmatch = 'hard at work'\nstatus = "running"\n[[titles]]\nid = "t"\nmatch = '^busy'\nstatus = "running"\n`,
  )
  const all = await runners()
  expect(all.named('codex').readScreen(screen)).toEqual({ status: 'running', rule: 'codex/mine@7' })
  expect(all.named('codex').readTitle(screen.title)?.rule).toBe('codex/t@7')
  expect(all.rulesOf('codex').source).toBe(join(root, 'patterns', 'codex.toml'))
  expect(all.rulesOf('claude').source).toBe('the built-in rules of claude')
})

it('a tool of the user may have a file of rules, too; its own patterns come first', async () => {
  writeFileSync(join(root, 'config.toml'), '[tools.vibe]\ncommand = "vibe"\nbusy_patterns = ["hard"]\n')
  own(
    'vibe.json',
    JSON.stringify({
      tool: 'vibe',
      version: 2,
      rules: [{ id: 'at', region: 'screen', match: 'work', status: 'idle' }],
    }),
  )
  const vibe = (await runners()).named('vibe')
  expect(vibe.readScreen(screen).rule).toBe('vibe/busy_patterns[0]@2')
  expect(vibe.readScreen({ ...screen, lines: ['at work'] }).rule).toBe('vibe/at@2')
})

it.each([
  ['codex.toml', 'tool = "codex"\nversion =', 'codex.toml cannot be read'],
  ['codex.json', '{', 'codex.json cannot be read'],
  ['codex.json', '{"tool":"claude","version":1,"rules":[]}', 'tool in .*codex.json is "claude"'],
  ['codex.toml', 'tool = "codex"\nversion = 1\nrules = 3', 'rules in .*codex.toml is not a list'],
])('a mistake in %s is named (%#)', async (file, content, message) => {
  own(file, content)
  await expect(runners()).rejects.toThrow(new RegExp(message))
})

it('two files for one tool are refused', async () => {
  const rules = '{"tool":"codex","version":1,"rules":[]}'
  own('codex.json', rules)
  own('codex.toml', 'tool = "codex"\nversion = 1\nrules = []')
  await expect(runners()).rejects.toThrow('There are two files for codex')
})
