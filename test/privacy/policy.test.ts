import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  DEFAULT_PRIVACY,
  loadPolicy,
  type Policy,
  type PolicyLayer,
  parsePolicy,
  TIERS,
  TOOL_KINDS,
  tiersFor,
  verdictFor,
} from '../../src/privacy/index.js'
import { type CallTiers, stricterTiers } from '../../src/privacy/tier.js'

/** Whether `a` keeps nothing that `b` would not. */
const isAsStrict = (a: CallTiers, b: CallTiers): boolean =>
  stricterTiers(a, b).arguments === a.arguments && stricterTiers(a, b).result === a.result

const both = (tier: (typeof TIERS)[number]) => ({ arguments: tier, result: tier })
const tool = fc.constantFrom('Bash', 'Read', 'Edit', 'mcp__db__query', 'mcp__db__write', 'shell', 'Custom')
const pattern = fc.oneof(tool, fc.constantFrom('*', 'mcp__*', 'mcp__db__*', 'B*', '*t', 'Custom*'))
const tiers = fc.record({ arguments: fc.constantFrom(...TIERS), result: fc.constantFrom(...TIERS) })
const layer: fc.Arbitrary<PolicyLayer> = fc.record({
  source: fc.constant('a file'),
  tools: fc.dictionary(pattern, tiers),
})

describe('the default policy', () => {
  it.each([
    ['Glob', 'full', 'full'],
    ['Grep', 'full', 'full'],
    ['Read', 'full', 'redacted'],
    ['Bash', 'redacted', 'redacted'],
    ['Edit', 'metadata', 'metadata'],
    ['Write', 'metadata', 'metadata'],
    ['WebFetch', 'full', 'full'],
    ['exec_command', 'redacted', 'redacted'],
    ['run_shell_command', 'redacted', 'redacted'],
    ['apply_patch', 'metadata', 'metadata'],
    ['write_file', 'metadata', 'metadata'],
    ['mcp__db__query', 'redacted', 'redacted'],
    ['somebodys_tool', 'redacted', 'redacted'],
  ])('keeps of %s arguments %s, result %s', (name, args, result) => {
    expect(tiersFor(DEFAULT_PRIVACY, name)).toEqual({ arguments: args, result })
  })

  it('names every tool once', () => {
    const names = TOOL_KINDS.flatMap((kind) => kind.names)
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
  })
})

describe('a project', () => {
  it('never makes the user’s policy looser', () => {
    fc.assert(
      fc.property(fc.array(layer), fc.array(layer, { maxLength: 3 }), tool, (user, projects, name) => {
        const alone: Policy = { user, projects: [], allowProjectLooser: false }
        const merged: Policy = { user, projects, allowProjectLooser: false }
        expect(isAsStrict(tiersFor(merged, name), tiersFor(alone, name))).toBe(true)
      }),
    )
  })

  it('has its way where the user allows more', () => {
    const policy: Policy = {
      user: DEFAULT_PRIVACY.user,
      projects: [{ source: 'p', tools: { 'mcp__db__*': both('full') } }],
      allowProjectLooser: true,
    }
    expect(verdictFor(policy, 'mcp__db__query')).toEqual({ tiers: both('full'), source: 'p', pattern: 'mcp__db__*' })
    expect(tiersFor({ ...policy, allowProjectLooser: false }, 'mcp__db__query')).toEqual(both('redacted'))
  })

  it('is told by the name first, then by the longest glob', async () => {
    const { tools } = await parsePolicy(
      'tool_privacy:\n  "*": redacted\n  "mcp__db__*": metadata\n  mcp__db__ping: full\n',
      'f',
    )
    const policy: Policy = { user: [{ source: 'f', tools }], projects: [], allowProjectLooser: false }
    expect(['other', 'mcp__db__x', 'mcp__db__ping'].map((name) => tiersFor(policy, name).arguments)).toEqual([
      'redacted',
      'metadata',
      'full',
    ])
  })
})

describe('policy files', () => {
  it('are read from both places, in the directory and above it', async () => {
    const root = mkdtempSync(join(tmpdir(), 'skein-privacy-'))
    try {
      const inner = join(root, 'packages', 'web')
      for (const folder of [join(root, '.gastown'), join(inner, '.skein')]) mkdirSync(folder, { recursive: true })
      const userFile = join(root, 'user.yaml')
      writeFileSync(userFile, 'tool_privacy: { Read: redacted, Grep: metadata }\n')
      writeFileSync(join(root, '.gastown', 'privacy.yaml'), 'tool_privacy:\n  Bash: none\n  CustomTool: full\n')
      writeFileSync(
        join(inner, '.skein', 'privacy.yaml'),
        'tool_privacy:\n  Grep: full\n  WebFetch: { arguments: full, result: none }\n',
      )
      const policy = await loadPolicy({ userFile, directory: inner })
      expect(verdictFor(policy, 'Bash')).toEqual({
        tiers: both('none'),
        source: join(root, '.gastown', 'privacy.yaml'),
        pattern: 'Bash',
      })
      expect(tiersFor(policy, 'CustomTool')).toEqual(both('redacted'))
      expect(verdictFor(policy, 'Grep')).toEqual({ tiers: both('metadata'), source: userFile, pattern: 'Grep' })
      expect(tiersFor(policy, 'WebFetch')).toEqual({ arguments: 'full', result: 'none' })
      expect(tiersFor(policy, 'Glob')).toEqual(both('full'))
    } finally {
      rmSync(root, { recursive: true, force: true })
    }
  })

  it.each([
    ['tool_privacy:\n  Bash: none\n  Read: [\n', 'p.yaml:4: '],
    ['# ours\ntool_privacy:\n  Bash: secret\n', 'p.yaml:3: Bash is "secret", which is not a tier'],
    ['tool_privacy:\n  Bash:\n    arguments: full\n', 'p.yaml:2: Bash.result is not given, which is not a tier'],
    [
      'tool_privacy:\n  Bash: { arguments: full, output: full }\n',
      'p.yaml:2: "output" is not a part of a call of Bash',
    ],
    ['tool_privacy: 3\n', 'p.yaml:1: tool_privacy is not a map of tools and tiers'],
    ['tools:\n  Bash: none\n', 'p.yaml:1: "tools" is not a setting of a privacy policy'],
    ['allow_project_looser: maybe\n', 'p.yaml:1: allow_project_looser is not true or false'],
    ['tool_privacy: { "Ba?h": none }\n', 'p.yaml:1: "Ba?h" matches no tool'],
    ['just words\n', 'p.yaml:1: a policy is a map of names and values'],
  ])('%j is refused with one line that says where', async (content, message) => {
    const error: unknown = await parsePolicy(content, 'p.yaml').catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      code: 'bad-config',
      message: expect.stringContaining(message),
      next: expect.any(String),
    })
    expect((error as Error).message).not.toContain('\n')
  })

  it.each([
    ['a dangling link', (path: string) => symlinkSync('gone.yaml', path)],
    ['a link to itself', (path: string) => symlinkSync(path, path)],
    ['a directory', (path: string) => mkdirSync(path)],
    ['a pipe that nobody writes to', (path: string) => execFileSync('mkfifo', [path])],
    ['a file of a megabyte', (path: string) => writeFileSync(path, '# comment\n'.repeat(100_000))],
  ])('are not passed over when one is %s', async (_, make) => {
    const root = mkdtempSync(join(tmpdir(), 'skein-privacy-'))
    try {
      mkdirSync(join(root, '.skein'))
      make(join(root, '.skein', 'privacy.yaml'))
      const places = { userFile: join(root, 'user.yaml'), directory: root }
      await expect(loadPolicy(places)).rejects.toMatchObject({
        code: 'bad-config',
        message: expect.stringContaining(join(root, '.skein', 'privacy.yaml')),
      })
    } finally {
      rmSync(root, { recursive: true, force: true })
    }
  })

  it('are looked for in no directory that cannot be', async () => {
    for (const directory of [`/${'x'.repeat(5_000)}`, '/a\0b'])
      expect((await loadPolicy({ userFile: '/nowhere/user.yaml', directory })).projects).toEqual([])
  })

  it('may be empty', async () => {
    for (const content of ['', '# nothing yet\n', 'tool_privacy:\n']) {
      expect(await parsePolicy(content, 'p.yaml')).toEqual({ source: 'p.yaml', tools: {}, allowProjectLooser: false })
    }
  })
})
