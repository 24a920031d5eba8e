import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { logOf, PLANTED, SESSION } from '../support/planted.js'
import { type Typed, type } from './typed.js'
import { profilesUnder, scratch } from './world.js'

const BIN = join(import.meta.dirname, '..', '..', 'bin', 'skein.js')

describe('secrets that are planted everywhere', () => {
  const world = scratch()
  const root = join(world.path, 'home')
  const skein = (words: string[]): Promise<Typed> =>
    type(words, { profiles: profilesUnder(root), cwd: world.path, now: Date.now })

  beforeAll(async () => {
    const project = join(world.path, 'shop')
    const logs = join(root, '.claude', 'projects', '-shop')
    for (const directory of [project, logs]) mkdirSync(directory, { recursive: true })
    execFileSync('git', ['init', '-q', '-b', `fix/${PLANTED['branch of the repository']}`, project])
    writeFileSync(join(logs, `${SESSION}.jsonl`), logOf(project))
    for (const words of [
      ['ingest'],
      ['agents', 'add', 'web/kim', '--tool', 'claude', '--project', project],
      [
        'session',
        'start',
        '--id',
        'told',
        '--title',
        `about ${PLANTED['session title']}`,
        '--branch',
        `b-${PLANTED['session branch']}`,
      ],
      ['events', 'append', 'mail', '--payload', JSON.stringify({ body: `it is ${PLANTED['event payload']}` })],
    ]) {
      const done = await skein(words)
      expect({ words, exitCode: done.exitCode, stderr: done.exitCode === 0 ? '' : done.stderr }).toMatchObject({
        exitCode: 0,
      })
    }
    return () => world[Symbol.dispose]()
  }, 60_000)

  it('are shown by no command', async () => {
    const leaks: string[] = []
    const lines = [
      ...[
        'turns',
        'tools',
        'show',
        'export',
        'replay',
        'sessions show',
        'sessions chain',
        'sessions tree',
        'chain',
        'tree',
      ].map((name) => `${name} ${SESSION}`),
      ...['cost', 'cost --no-index', 'search please', 'search reply', 'sessions list --all', 'show told'],
      ...[
        'events tail',
        'events feed',
        'events stats',
        'events decay',
        'privacy audit',
        'archive list',
        'archive stats',
      ],
    ]
    for (const line of lines)
      for (const more of [[], ['--json']]) {
        const { stdout, stderr, exitCode } = await skein([...line.split(' ').filter((word) => word !== ''), ...more])
        expect({ line, exitCode, stderr }).toMatchObject({ exitCode: 0 })
        for (const [place, secret] of Object.entries(PLANTED))
          if ((stdout + stderr).includes(secret)) leaks.push(`${place}: skein ${line} ${more.join(' ')}`)
      }
    expect(leaks).toEqual([])
  }, 300_000)

  it('are shown of no agent', () => {
    writeFileSync(join(root, 'config.toml'), '[daemon]\nautostart = false\n')
    const env = { PATH: process.env.PATH, HOME: root, SKEIN_HOME: root, TMUX_TMPDIR: root }
    const leaks: string[] = []
    for (const line of ['list --all', 'status', 'agents list', 'why web/kim', 'next', 'statusline', 'show web/kim', ''])
      for (const more of line === 'statusline' ? [[]] : [[], ['--json']]) {
        const words = [...line.split(' ').filter((word) => word !== ''), ...more]
        const ran = spawnSync(process.execPath, [BIN, ...words], { env, cwd: world.path, encoding: 'utf8' })
        expect({ words, isBug: ran.status === 70 || ran.status === 2, said: ran.stderr }).toMatchObject({
          isBug: false,
        })
        for (const [place, secret] of Object.entries(PLANTED))
          if ((ran.stdout + ran.stderr).includes(secret)) leaks.push(`${place}: skein ${words.join(' ')}`)
      }
    expect(leaks).toEqual([])
  }, 120_000)

  it('are in no file of the home', () => {
    const kept: string[] = []
    for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
      if (name.startsWith('.claude') || !statSync(join(root, name)).isFile()) continue
      const content = readFileSync(join(root, name), 'latin1')
      for (const [place, secret] of Object.entries(PLANTED))
        if (content.includes(secret)) kept.push(`${place}: ${name}`)
    }
    expect(kept).toEqual([])
  })
})
