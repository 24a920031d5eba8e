import { expect, it } from 'vitest'
import { settingsFiles } from '../../../src/tools/index.js'

const environment = { home: '/home/ada', env: {} }

it('names the files of the program, of the directory and of those above it, each once', () => {
  const files = settingsFiles('claude', '/home/ada/web/shop', environment)
  expect(files).toContain('/home/ada/.claude/settings.json')
  for (const directory of ['/home/ada/web/shop', '/home/ada/web', '/home/ada', ''])
    expect(files).toContain(`${directory}/CLAUDE.md`)
  expect(new Set(files).size).toBe(files.length)
})

it('names of a program that nobody knows what most programs read', () => {
  expect(settingsFiles('scribe', '/srv/web', environment)).toEqual([
    '/srv/web/AGENTS.md',
    '/srv/AGENTS.md',
    '/AGENTS.md',
  ])
})
