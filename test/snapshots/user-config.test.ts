import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Git } from '../../src/snapshots/git.js'
import { findRepository } from '../../src/snapshots/repository.js'
import { captureConfig, userConfig } from '../../src/snapshots/user-config.js'
import { ScratchRepository } from './scratch-repository.js'

const ASKED = ['core.excludesfile', 'core.attributesfile', 'core.autocrlf']

/** What each file says, and whether git has to be asked. */
const CASES: [string, Record<string, string>, boolean][] = [
  ['nothing of interest', { '.gitconfig': '[user]\n\tname = a\n' }, false],
  ['ignore rules of the home', { '.gitconfig': '[core]\n\texcludesFile = ~/ignored\n' }, true],
  ['the same in another case and place', { '.config/git/config': '[CORE] EXCLUDESFILE="x y"\n' }, true],
  ['attributes in the repository', { 'project/.git/config': '[core]\n\tattributesfile = /a\n' }, true],
  ['line ends', { 'project/.git/config': '[core]\n\tautocrlf = input\n' }, true],
  ['another file', { '.gitconfig': '[include]\n\tpath = more\n', more: '[core]\n\tautocrlf = true\n' }, true],
  [
    'another file on a condition',
    { '.gitconfig': '[includeIf "gitdir:/"]\n\tpath = more\n', more: '[core]\nautocrlf\n' },
    true,
  ],
]

describe('the configuration that a capture asks for', () => {
  it.each(CASES)('is what git says: %s', async (_, files, isAsked) => {
    using repository = ScratchRepository.withCommits()
    for (const [name, text] of Object.entries(files)) {
      const path = name.startsWith('project/') ? join(repository.base, name) : join(repository.home, name)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text, { flag: 'a' })
    }
    const found = findRepository(repository.root)
    if (!found) throw new Error('no repository')
    const git = new Git({ executable: 'git', searchPath: process.env.PATH ?? '' })
    const none = new Git({ executable: '/nowhere/git', searchPath: '' })
    const all = await userConfig(found, repository.home, git)
    const own = await captureConfig(found, repository.home, git)
    expect(ASKED.map((name) => own.get(name))).toEqual(ASKED.map((name) => all.get(name)))
    if (isAsked) await expect(captureConfig(found, repository.home, none)).rejects.toThrow('git cannot be started')
    else expect([...(await captureConfig(found, repository.home, none))]).toEqual([])
  })
})
