import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { COMMANDS } from '../../src/cli/command-table.js'
import { openAgents } from '../../src/lifecycle/index.js'
import { contextOf } from '../lifecycle/context.js'
import { everyCommand } from './every-command.js'
import { type } from './typed.js'
import { buildWorld, profilesUnder, scratch } from './world.js'

it('whatever is typed gets an answer or one clear line, never a bug and never a control character', async () => {
  using world = scratch()
  await buildWorld(world.path)
  const nothingToStart = {
    context: contextOf([]),
    environment: { home: world.path, env: {} },
    socket: { path: join(world.path, 'tmux.sock') },
    runners: [],
  }
  const commands = await everyCommand()
  const options = commands.flatMap(({ command }) => Object.keys(command.options).map((name) => `--${name}`))
  const word = fc.oneof(
    fc.constantFrom(...new Set(options), '--json', '--profile', '--no-color', '-n', '-f', '--', '-', '-h'),
    fc.constantFrom(
      'web/toast',
      '0f3c9a12',
      '5e8fa07b-active',
      'wk-42',
      'ops',
      'play',
      '7d',
      'done',
      'start',
      'set',
      '3',
    ),
    fc.constantFrom('', '\x1b[2J', '../../etc/passwd', '__proto__', '\u202e', 'a'.repeat(300), '-5', '{}', "'; drop"),
    fc.string({ unit: 'binary', maxLength: 6 }),
  )
  const line = fc
    .tuple(fc.constantFrom(...commands.map(({ name }) => name)), fc.array(word, { maxLength: 5 }))
    .map(([name, words]) => [...name.split(' '), ...words])
  const noLine = fc.array(fc.oneof(word, fc.constantFrom(...Object.keys(COMMANDS.entries), 'help')), { maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(fc.oneof({ weight: 4, arbitrary: line }, noLine), async (args) => {
      const profiles = profilesUnder(world.path)
      const { stdout, stderr, exitCode } = await type(args, {
        profiles,
        agents: async (home) => openAgents({ home, ...nothingToStart }),
        now: Date.now,
        interrupted: () => AbortSignal.abort(),
      })
      expect([0, 1, 2]).toContain(exitCode)
      if (exitCode === 2) expect({ stdout, lines: stderr.split('\n').length }).toEqual({ stdout: '', lines: 2 })
      expect(stdout + stderr).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/)
    }),
    { numRuns: 400 },
  )
})
