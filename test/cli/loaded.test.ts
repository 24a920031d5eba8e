import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BINARY, environmentIn, run } from './binary.js'
import { buildWorld, scratch } from './world.js'

/** What of the program a command loads, by the names of its sources. Loading is most of what a small command does. */
async function sourcesLoadedBy(
  args: readonly string[],
  { exit = 0, first = [] as string[], config = '' } = {},
): Promise<string[] & { loadedBuiltIns: string[] }> {
  using directory = scratch()
  const { path } = directory
  await buildWorld(join(path, 'home'))
  const env = environmentIn(path)
  if (config !== '') writeFileSync(join(path, 'home', 'config.toml'), config)
  if (first.length > 0) expect(await run(BINARY, first, { env })).toMatchObject({ exitCode: 0 })
  const tell = join(path, 'tell.cjs')
  const told = join(path, 'loaded.json')
  writeFileSync(
    tell,
    `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(told)}, JSON.stringify({ files: Object.keys(require.cache), builtIns: process.moduleLoadList })))`,
  )
  const { exitCode, stderr } = await run(process.execPath, ['--require', tell, BINARY, ...args], {
    env,
  })
  expect({ exitCode, stderr }).toEqual({ exitCode: exit, stderr: '' })
  const { files, builtIns } = JSON.parse(readFileSync(told, 'utf8')) as Record<'files' | 'builtIns', string[]>
  const sources = files
    .filter((file) => file.endsWith('.cjs'))
    .flatMap((file) => readFileSync(file, 'utf8').match(/^\/\/ (?:src|node_modules)\/.*$/gm) ?? [])
    .map((line) => line.slice(3))
  return Object.assign(sources, { loadedBuiltIns: builtIns.map((one) => one.replace(/^NativeModule /, '')) })
}

const RULES = 'src/privacy/secrets/find-secrets.ts'
const LOG_READERS = 'src/tools/log/jsonl-log.ts'

describe('a command that only asks', () => {
  it('loads neither the rules of privacy nor the readers of logs', async () => {
    const sources = await sourcesLoadedBy(['sessions', 'list', '--json'])
    expect(sources).toContain('src/index/sqlite-index.ts')
    for (const one of [RULES, LOG_READERS, 'src/ingest/text/text-store.ts']) expect(sources).not.toContain(one)
  })

  it('loads nothing that starts or asks other programs, and makes no stream of standard input, to list sessions', async () => {
    const sources = await sourcesLoadedBy(['sessions', 'list', '--json'])
    expect(sources.filter((source) => source.startsWith('src/daemon/'))).toEqual([])
    for (const one of ['child_process', 'http', 'tty', 'net']) expect(sources.loadedBuiltIns).not.toContain(one)
  })

  it('loads the text to search in it, and not what fills it', async () => {
    const sources = await sourcesLoadedBy(['search', 'anything', '--json'], { exit: 1 }) // like grep: nothing was ever ingested here
    expect(sources).toContain('src/ingest/text/search-text.ts')
    for (const one of [RULES, LOG_READERS, 'src/ingest/turns/read-history.ts']) expect(sources).not.toContain(one)
  })

  it('loads the ledger to add up what was spent, when somebody has just looked at the logs', async () => {
    const sources = await sourcesLoadedBy(['cost', '--json'], { first: ['ingest', '--json'] })
    expect(sources).toContain('src/ingest/ledger/ledger-cells.ts')
    for (const one of [RULES, LOG_READERS, 'src/ingest/turns/read-history.ts']) expect(sources).not.toContain(one)
  })

  it('loads no reader of logs, and nothing that talks to a daemon where none runs, to list agents', async () => {
    const sources = await sourcesLoadedBy(['list', '--json'])
    expect(sources).toContain('src/lifecycle/status/observe.ts')
    const readers = ['src/tools/log/log-tools.ts', 'src/tools/claude/claude-translator.ts', 'src/tools/log/fold.ts']
    for (const one of [RULES, ...readers]) expect(sources).not.toContain(one)
    expect(sources.loadedBuiltIns).not.toContain('http')
  })

  it('loads both where logs are read, or else this file looks for the wrong names', async () => {
    const sources = await sourcesLoadedBy(['ingest', '--json'])
    for (const one of [RULES, LOG_READERS, 'src/ingest/turns/read-history.ts']) expect(sources).toContain(one)
  })
})

const TOML = /^node_modules\/.*toml/

describe.each([
  ['skein hook SessionStart', ['hook', 'SessionStart']],
  ['skein hook Stop', ['hook', 'Stop']],
  ['skein prime --hook', ['prime', '--hook']],
])('%s, for which an agent waits', (_name, args) => {
  it('loads neither TOML, nor the runner of a tool, nor a reader of logs, nor the command line', async () => {
    const sources = await sourcesLoadedBy(args, { config: '[daemon]\nautostart = false\n' })
    expect(sources).toContain('src/hook-main.ts')
    for (const one of [RULES, LOG_READERS, 'src/tools/run/run-tools.ts', 'src/tools/claude/claude-runner.ts'])
      expect(sources).not.toContain(one)
    const others = (source: string): boolean => TOML.test(source) || /^src\/(cli|daemon|operations)\//.test(source)
    expect(sources.filter(others)).toEqual([])
  })
})

it('a hook loads TOML where the user has roles, or else this file looks for the wrong name', async () => {
  const sources = await sourcesLoadedBy(['hook', 'SessionStart'], { config: '[roles.crew]\nrespawn = "never"\n' })
  expect(sources.some((source) => TOML.test(source))).toBe(true)
})
