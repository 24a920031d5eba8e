import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findProgram } from '../../src/tools/index.js'
import { fixture } from '../tools/recorded-pane.js'
import { type } from './typed.js'
import { profilesUnder, scratch } from './world.js'

function world(root: string, stdin = '') {
  return { profiles: profilesUnder(root), cwd: root, stdin: () => stdin }
}

it('tool test names the rule, the question and what each option means', async () => {
  using home = scratch()
  const { stdout, exitCode } = await type(
    ['tool', 'test', 'claude'],
    world(home.path, fixture('claude', 'panes', 'permission-plan-mode.txt')),
  )
  expect(exitCode).toBe(0)
  expect(stdout).toContain('claude/permission@1')
  expect(stdout).toContain('Do you want to proceed?')
  expect(stdout).toContain('  > No  deny\n    Yes  allow')
})

it('tool test fails where no rule knows the screen', async () => {
  using home = scratch()
  const { stdout, exitCode } = await type(['tool', 'test', 'claude'], world(home.path, '$ ls\nREADME.md\n'))
  expect({ exitCode, says: stdout.includes('no rule matches this screen') }).toEqual({ exitCode: 1, says: true })
})

it('tool test shows nothing of a recording that a terminal would act on', async () => {
  using home = scratch()
  const text = fixture('claude', 'panes', 'permission-bash.txt').replace('1. Yes\n', '1. Yes\u009b31m\u202e\n')
  const { stdout } = await type(['tool', 'test', 'claude'], world(home.path, text))
  expect(stdout).not.toMatch(/[\u0080-\u009f\u202e]/)
})

it.each([
  [['tool', 'test', 'claude', '--pane', 'none.txt'], /none\.txt cannot be read: ENOENT/],
  [['tool', 'show', 'claud'], /There is no tool called "claud"[\s\S]*Did you mean claude\?/],
])('%j is answered in one line', async (args, message) => {
  using home = scratch()
  const { stderr, exitCode } = await type(args, world(home.path))
  expect(exitCode).not.toBe(0)
  expect(stderr).toMatch(message)
})

it('a mistake in [tools] is named with its key and its file', async () => {
  using home = scratch()
  mkdirSync(home.path, { recursive: true })
  writeFileSync(join(home.path, 'config.toml'), '[tools.vibe]\ncommand = "vibe"\nbusy_pattern = ["x"]\n')
  const { stderr, exitCode } = await type(['tool', 'list'], world(home.path))
  expect(exitCode).toBe(2)
  expect(stderr).toContain(`tools.vibe.busy_pattern in ${join(home.path, 'config.toml')} is not a known key`)
})

it('values of variables are not shown', async () => {
  using home = scratch()
  writeFileSync(join(home.path, 'config.toml'), '[tools.vibe]\ncommand = "vibe"\nenv = { KEY = "hush-hush" }\n')
  for (const flags of [[], ['--json']]) {
    const { stdout } = await type(['tool', 'show', 'vibe', ...flags], world(home.path))
    expect(stdout).toContain('KEY')
    expect(stdout).not.toContain('hush-hush')
  }
})

it('a program is found as a shell would, with the version that its package tells', () => {
  using home = scratch()
  const bin = join(home.path, 'lib', 'vibe', 'bin')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(home.path, 'lib', 'vibe', 'package.json'), '{"version":"2.3.4","bin":{"vibe":"bin/vibe"}}')
  writeFileSync(join(bin, 'vibe'), '#!/bin/sh\n')
  const environment = { home: home.path, env: { PATH: `/nowhere:${bin}` } }
  expect(findProgram('vibe', environment)).toBeUndefined()
  chmodSync(join(bin, 'vibe'), 0o755)
  expect(findProgram('vibe', environment)).toEqual({ path: join(bin, 'vibe'), version: '2.3.4' })
})
