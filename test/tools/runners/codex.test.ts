import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { instantOf } from '../../../src/model/index.js'
import { codex } from '../../../src/tools/codex/codex.js'
import { codexRunner } from '../../../src/tools/codex/codex-runner.js'
import { fixture, recordedPanes } from '../recorded-pane.js'
import { ID, messageOf, ORIGIN, scratchLaunches } from './launch.js'

describe('what the hooks of Codex say', () => {
  const expected: Record<string, unknown[]> = JSON.parse(fixture('codex', 'hooks', 'expected.json'))
  it.each(Object.keys(expected))('%s', (name) => {
    const lines = fixture('codex', 'hooks', `${name}.jsonl`).trim().split('\n')
    const said = lines.map((line) => {
      const payload: unknown = JSON.parse(line).stdin
      return codexRunner.readMessage(messageOf('codex', payload)) ?? null
    })
    expect(said).toEqual(expected[name])
  })
})

it('of a patch, the files are told', () => {
  const command = '*** Begin Patch\n*** Add File: a.md\n+x\n*** Update File: b/c.ts\n*** End Patch'
  const payload = {
    hook_event_name: 'PermissionRequest',
    session_id: ID,
    tool_name: 'apply_patch',
    tool_input: { command },
  }
  const { request } = codexRunner.readMessage(messageOf('codex', payload)) ?? {}
  expect(request).toMatchObject({ tool: 'apply_patch', what: 'a.md, b/c.ts' })
})

describe('the picture that it draws before it asks anything', () => {
  const panes = recordedPanes('codex')
  const first = panes.find(({ name }) => name === 'first-picture')?.screen ?? { lines: [], title: '', width: 80 }

  it.each(panes)('$name', ({ name, screen }) => {
    expect(codexRunner.isFirstPicture?.(screen)).toBe(name === 'first-picture')
  })

  it.each(['Ready | repo', 'Starting | repo', 'Working | repo', '⠋ Starting | repo'])(
    'is over once its title says %j',
    (title) => expect(codexRunner.isFirstPicture?.({ ...first, title })).toBe(false),
  )
})

describe('starting Codex', () => {
  it('anew: with a log of one line under the id of our choice, which it resumes', () => {
    using scratch = scratchLaunches()
    const { argv, files, session } = codexRunner.prepare(scratch.launch())
    expect(argv.slice(0, 4)).toEqual(['codex', 'resume', ID, '--no-daemon'])
    expect(session).toBe(ID)
    const [seed] = files
    if (!seed) throw new Error('no log was written')
    expect(seed.path).toMatch(
      new RegExp(`/\\.codex/sessions/2026/11/1\\d/rollout-2026-11-1\\dT\\d\\d-00-00-${ID}\\.jsonl$`),
    )
    mkdirSync(dirname(seed.path), { recursive: true })
    writeFileSync(seed.path, seed.content)
    const [log] = codex.discover({ home: scratch.home, env: {} })
    expect(log?.session).toBe(ID)
    expect(log && codex.identify(log)).toMatchObject({ id: ID, cwd: '/srv/web' })
  })

  it.each([
    ['', [], 'openai'],
    ['model = "x"\nmodel_provider = "azure" # ours\n[model_providers.azure]\n', [], 'azure'],
    ["model_provider = 'local'\n", [], 'local'],
    ['[profiles.a]\nmodel_provider = "other"\n', [], 'openai'],
    ['model_provider = "azure"\n', ['-c', 'model_provider="oss"'], 'oss'],
    ['', ['--config', 'model_provider=oss'], 'oss'],
  ])('names the provider that will be used: %j %j', (config, args, provider) => {
    using scratch = scratchLaunches()
    mkdirSync(`${scratch.home}/.codex`)
    writeFileSync(`${scratch.home}/.codex/config.toml`, config)
    const [seed] = codexRunner.prepare(scratch.launch({ args })).files
    expect(JSON.parse(seed?.content ?? '').payload).toMatchObject({ id: ID, model_provider: provider })
  })

  it('resumes a log that is there, wherever it is, and writes none', () => {
    using scratch = scratchLaunches()
    const [seed] = codexRunner.prepare(scratch.launch()).files
    mkdirSync(dirname(seed?.path ?? ''), { recursive: true })
    writeFileSync(seed?.path ?? '', seed?.content ?? '')
    const later = scratch.launch({ kind: 'resume', startedAt: instantOf(Date.UTC(2026, 11, 1)) })
    expect(codexRunner.prepare(later)).toMatchObject({ files: [], session: ID })
  })

  it('forks into an id that Codex chooses', () => {
    using scratch = scratchLaunches()
    const prepared = codexRunner.prepare(scratch.launch({ kind: 'fork', origin: ORIGIN }))
    expect(prepared.argv.slice(0, 3)).toEqual(['codex', 'fork', ORIGIN])
    expect(prepared).not.toHaveProperty('session')
    expect(prepared.files).toEqual([])
  })

  it('gives each hook as a TOML value that no quote breaks', () => {
    using scratch = scratchLaunches()
    const { argv } = codexRunner.prepare(scratch.launch())
    const stop = argv.find((word) => word.startsWith('hooks.Stop='))
    expect(stop).toBe(`hooks.Stop=[{hooks=[{type="command",command="sh '/run/skein/put' \\"a b\\"",timeout=10}]}]`)
    expect(argv.filter((word) => word === '-c').length).toBe(10)
    expect(argv).toContain('--dangerously-bypass-hook-trust')
    expect(argv).not.toContain('--dangerously-bypass-approvals-and-sandbox')
    expect(argv.join(' ')).not.toContain('trust_level')
  })
})

it.each([
  ['Ready | proj', 'idle'],
  ['Working | proj', 'running'],
  ['Thinking | proj', 'running'],
  ['⠋ proj', 'running'],
  ['[ ! ] Action Required | proj', 'waiting'],
  ['Starting | proj', undefined], // its servers: it can be talked to, and its screen says what it does
  ['vm', undefined],
  ['', undefined],
])('the title %j says %s', (title, status) => {
  expect(codexRunner.readTitle(title)?.status).toBe(status)
})
